// Further ways to end a gateway whose standard output is not read any more; test/flow/observe has the first ones.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE, refuse, startUnread } from '../flow/observe/unread-gateway.ts';
import { startRedis } from '../support/redis.ts';

const redis = await startRedis();
after(() => redis.stop());

describe('an unread log holds up no end:', { concurrency: 4 }, () => {
  it('SIGTERM, and a second one', PATIENCE, async (test) => {
    const gateway = await startUnread(test);
    await refuse(gateway);
    gateway.child.kill('SIGTERM');
    gateway.child.kill('SIGINT');
    assert.deepEqual(await gateway.ended, [0, null]);
    assert.match(gateway.errors(), /\d+ log lines were dropped, because standard output did not take them/);
  });

  it('an unhandled rejection, which standard error has then', PATIENCE, async (test) => {
    const gateway = await startUnread(test);
    await refuse(gateway);
    gateway.child.kill('SIGPWR');
    assert.deepEqual(await gateway.ended, [1, null]);
    assert.match(gateway.errors(), /uncaught error: TypeError: rejected for a test\n +at /);
    assert.match(gateway.errors(), /log lines? (was|were) dropped/);
  });

  it('a pipe that another process has made wait', PATIENCE, async (test) => {
    const gateway = await startUnread(test);
    gateway.child.kill('SIGSTKFLT');
    await refuse(gateway);
    await sleep(300);
    await refuse(gateway);
    gateway.child.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, [0, null]);
  });

  it('a reader that goes on in time has all lines', PATIENCE, async (test) => {
    const gateway = await startUnread(test);
    await refuse(gateway);
    gateway.child.kill('SIGTERM');
    let text = gateway.left();
    const [code] = await gateway.ended;
    text += gateway.left();
    assert.equal(code, 0);
    assert.match(text, /"status":404/);
    assert.match(text, /"msg":"draining"/);
    assert.doesNotMatch(gateway.errors(), /dropped/);
  });

  it('a thread that waits for a name server or a disk', PATIENCE, async (test) => {
    const gateway = await startUnread(test, { environment: { NEVER_OPENS_THREADS: '3' } });
    gateway.child.kill('SIGPOLL');
    gateway.child.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, [0, null]);
  });

  it('a start that fails', PATIENCE, async (test) => {
    const gateway = await startUnread(test, {
      environment: { PORT: new URL(redis.url).port, WORKERS: '2', REDIS_URL: redis.url },
    });
    assert.deepEqual(await gateway.ended, [1, null]);
    assert.match(gateway.errors(), /something else listens there/);
  });

  it('an uncaught error of the process that holds the workers', PATIENCE, async (test) => {
    const gateway = await startUnread(test, { environment: { WORKERS: '2', REDIS_URL: redis.url } });
    gateway.child.kill('SIGPWR');
    assert.deepEqual(await gateway.ended, [1, null]);
    assert.match(gateway.errors(), /uncaught error: TypeError: rejected for a test/);
  });

  it('several workers, of which one dies of an error, and then all are ended', PATIENCE, async (test) => {
    const gateway = await startUnread(test, { environment: { WORKERS: '2', REDIS_URL: redis.url } });
    const workers = async () => {
      const status = await (await fetch(`http://127.0.0.1:${gateway.adminPort}/status`)).json();
      return (status as { workers: { pid: number; restarts: number; state: string }[] }).workers;
    };
    await refuse(gateway);
    process.kill((await workers())[0]?.pid as number, 'SIGWINCH');
    while (
      !(await workers()).every(({ restarts, state }, at) => state === 'serving' && restarts === (at === 0 ? 1 : 0))
    )
      await sleep(100);
    await refuse(gateway);
    gateway.child.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, [0, null]);
    assert.match(gateway.errors(), /gateway: \d+ log lines were dropped/);
  });
});
