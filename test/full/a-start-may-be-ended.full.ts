// SIGTERM comes while several workers start, and the first of them takes requests already.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { installed } from '../flow/workers/installed.ts';
import { eventually } from '../flow/workers/several.ts';

describe('a signal while several workers start', () => {
  it('ends them in order: SIGTERM lets the first, which serves already, finish', async (test) => {
    const { installation, answers } = await installed(test);
    const ended = Promise.withResolvers<number | null>();
    const never = installation.start(async (child) => {
      child.once('exit', ended.resolve);
      await eventually(async () => (await answers())?.status === 200);
      child.kill('SIGTERM');
    });
    assert.equal(await ended.promise, 0);
    // Whether it came to say that it serves depends on how fast the second worker was.
    await never.catch(() => undefined);
  });
});
