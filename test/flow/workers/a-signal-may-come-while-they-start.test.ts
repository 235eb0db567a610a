// Signals that come while several workers start: the first takes requests before the others do, so the sender does not wait for the last.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { freePort } from '../../support/free-port.ts';
import { createInstallation, type Running } from '../../support/process.ts';
import { LIMIT_RUNS } from '../../unit/limits/scenarios.ts';
import { eventually, isAlive, prepareSeveral, type SeveralOptions, type WorkerStatus } from './several.ts';

/** Two workers take two seconds of CPU to start. */
const inFull = LIMIT_RUNS > 1 ? it : it.skip;

/** An installation for two workers, of which one can know when the process that holds them listens to operators. */
async function installed(test: TestContext, options?: SeveralOptions) {
  const prepared = await prepareSeveral(options);
  test.after(prepared.close);
  const adminPort = await freePort();
  const installation = createInstallation({ ...prepared.environment, ADMIN_PORT: String(adminPort) });
  test.after(installation.remove);
  const answers = () => fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => undefined);
  return { installation, answers };
}

async function workersOf({ adminPort }: Running): Promise<readonly WorkerStatus[]> {
  const answer = await fetch(`http://127.0.0.1:${adminPort}/status`);
  return ((await answer.json()) as { workers: WorkerStatus[] }).workers;
}

describe('a signal while several workers start', { concurrency: true }, () => {
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

  inFull('ends them in order: SIGTERM lets the first, which serves already, finish', async (test) => {
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
