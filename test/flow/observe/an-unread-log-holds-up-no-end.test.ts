// Standard output is not read any more, or its disk is full. The gateway serves, and every way to end it ends it: SIGTERM, an uncaught
// error, a failed start; one process or several; with standard error unread too. What could not be written is told where there is room.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE, redis, refuse, startUnread } from './unread-gateway.ts';

describe('an unread log holds up no end:', { concurrency: 4 }, () => {
  it('an uncaught error, with standard error unread too', PATIENCE, async (test) => {
    const gateway = await startUnread(test, { unread: '1,2' });
    await refuse(gateway);
    gateway.child.kill('SIGWINCH');
    assert.deepEqual(await gateway.ended, [1, null]);
  });

  it('a thread that waits for a name server or a disk', PATIENCE, async (test) => {
    const gateway = await startUnread(test, { environment: { NEVER_OPENS_THREADS: '3' } });
    gateway.child.kill('SIGPOLL');
    gateway.child.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, [0, null]);
  });

  it('parts that cannot be closed, because every thread waits', PATIENCE, async (test) => {
    const gateway = await startUnread(test, { unread: '', environment: { NEVER_OPENS_THREADS: '4' } });
    gateway.child.kill('SIGPOLL');
    gateway.child.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, [1, null]);
    assert.match(gateway.left(), /"msg":"the gateway ends, although some of its parts are not closed/);
  });

  it('a full disk ends nothing, and the lines are counted', PATIENCE, async (test) => {
    const gateway = await startUnread(test, { unread: '', output: '/dev/full' });
    for (let times = 0; times < 3; times += 1) {
      await refuse(gateway);
      await sleep(150);
    }
    const metrics = await (await fetch(`http://127.0.0.1:${gateway.adminPort}/metrics`)).text();
    assert.match(metrics, /^gateway_log_lines_dropped_total [1-9]/m);
    gateway.child.kill('SIGTERM');
    assert.deepEqual(await gateway.ended, [0, null]);
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
