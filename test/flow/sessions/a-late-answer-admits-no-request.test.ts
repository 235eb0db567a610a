// A process stands still after it has asked for a session, and gets the answer when the session has ended elsewhere: it accepts no request
// by this answer.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LiveSessions } from '../../../gateway/sessions/live/live-sessions.ts';
import { openRedisSessionStore } from '../../../gateway/sessions/store/redis/redis-session-store.ts';
import { REAL_MACHINE } from '../../../gateway/shared/machine.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { until } from '../../support/connection.ts';
import { startServer } from '../../support/redis.ts';
import { ring, signIn } from './store-samples.ts';

const start = closesAfterEach();

for (const [what, stillMs, jumpMs] of [
  ['by both clocks', 1100, 1100],
  ['by the clock that stands still in a suspended machine', 0, 1100],
  ['by the monotonic clock, because the other one was set back', 1100, 0],
] as const) {
  it(`an answer that comes too late ${what} admits no request`, async () => {
    const redis = await start(startServer());
    const store = await start(openRedisSessionStore({ url: redis.url, keys: ring }));
    const ahead = { stillMs: 0, jumpMs: 0 };
    const machine = {
      ...REAL_MACHINE,
      now: () => Date.now() + ahead.jumpMs,
      performance: { now: () => performance.now() + ahead.stillMs },
    };
    let isLate = true;
    const slow = {
      ...store,
      async find(hash: string) {
        const found = await store.find(hash);
        if (isLate) {
          await store.end(session.id, 'operator');
          Object.assign(ahead, { stillMs, jumpMs });
        }
        return found;
      },
    };
    const sessions = await start(
      new LiveSessions({
        ...{ store: slow, max: 100, machine },
        redeem: () => assert.fail('nothing is due'),
        reuseMsOf: () => 0,
        discard: () => undefined,
      }),
    );
    const session = await signIn(store);
    await assert.rejects(async () => await sessions.use(session.hash), /the session store answered too late/);
    isLate = false;
    const other = await signIn(store);
    // The late answer counts as a failure of the store until its ends are read again.
    const find = async () => await sessions.find(other.hash);
    const found = await until(async () => await find().catch(() => undefined));
    assert.equal(found.hash, other.hash);
  });
}
