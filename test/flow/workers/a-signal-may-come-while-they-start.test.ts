// Signals that come while several workers start: the first takes requests before the others do, so the sender does not wait for the last.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createInstallation } from '../../support/process.ts';
import { freePort } from '../../support/redis.ts';
import { eventually, prepareSeveral } from './several.ts';

/** An installation for two workers, of which one can know when the process that holds them listens to operators. */
async function installed(test: TestContext) {
  const prepared = await prepareSeveral();
  test.after(prepared.close);
  const adminPort = await freePort();
  const installation = createInstallation({ ...prepared.environment, ADMIN_PORT: String(adminPort) });
  test.after(installation.remove);
  const answers = () => fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => undefined);
  return { installation, answers };
}

describe('a signal while several workers start', { concurrency: true }, () => {
  it('does not end them: SIGHUP and SIGUSR2 are heeded as later', async (test) => {
    const { installation, answers } = await installed(test);
    const gateway = await installation.start(async (child) => {
      await eventually(answers);
      child.kill('SIGHUP');
      child.kill('SIGUSR2');
    });
    await eventually(() => gateway.output().includes('configuration reload requested'));
    await eventually(() => gateway.output().includes('replacement of every worker requested'));
    assert.equal((await answers())?.status, 200);
    assert.equal(await gateway.stop(), 0);
  });

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
