// Standard output is not read any more, or its disk is full. The gateway serves, and every way to end it ends it: SIGTERM, an uncaught
// error; with standard error unread too. test/full has further ways, and several workers.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE, refuse, startUnread } from './unread-gateway.ts';

describe('an unread log holds up no end:', { concurrency: 4 }, () => {
  it('an uncaught error, with standard error unread too', PATIENCE, async (test) => {
    const gateway = await startUnread(test, { unread: '1,2' });
    await refuse(gateway);
    gateway.child.kill('SIGWINCH');
    assert.deepEqual(await gateway.ended, [1, null]);
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
});
