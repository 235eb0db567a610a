// Signals that come while several workers start: the first takes requests before the others do, so the sender does not wait for the last.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Running } from '../../support/process.ts';
import { installed } from './installed.ts';
import { eventually, isAlive, type WorkerStatus } from './several.ts';

async function workersOf({ adminPort }: Running): Promise<readonly WorkerStatus[]> {
  const answer = await fetch(`http://127.0.0.1:${adminPort}/status`);
  return ((await answer.json()) as { workers: WorkerStatus[] }).workers;
}

describe('a signal while several workers start', () => {
  it('does not end them: SIGHUP and SIGUSR2 are heeded as later; SIGTERM ends also a worker that does not react', async (test) => {
    const { installation, answers } = await installed(test, { gateway: { timeouts: { drainMs: 0 } } });
    const gateway = await installation.start(async (child) => {
      test.after(() => child.kill('SIGKILL'));
      await eventually(answers);
      child.kill('SIGHUP');
      child.kill('SIGUSR2');
    });
    await eventually(() => gateway.output().includes('configuration reload requested'));
    await eventually(() => gateway.output().includes('replacement of every worker requested'));
    assert.equal((await answers())?.status, 200);
    await eventually(() => gateway.output().includes('every worker was replaced'));
    const pids = (await workersOf(gateway)).map(({ pid }) => pid as number);
    process.kill(pids[0] as number, 'SIGSTOP');
    assert.equal(await gateway.stop(), 0);
    assert.ok(!pids.some(isAlive));
  });
});
