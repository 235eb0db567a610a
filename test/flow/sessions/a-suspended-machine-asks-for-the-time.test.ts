// A machine was suspended, and its monotonic clock with it: until it has read the ends of sessions, its estimate of the store's clock is
// that of before. A use at that moment counts, and a session whose idle end came meanwhile is not accepted.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { LiveSessions } from '../../../gateway/sessions/live/live-sessions.ts';
import { openRedisSessionStore } from '../../../gateway/sessions/store/redis/redis-session-store.ts';
import { REAL_MACHINE } from '../../../gateway/shared/machine.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { startServer } from '../../support/redis.ts';
import { until } from '../../unit/auth/samples.ts';
import { ring, signIn } from './store-samples.ts';

const start = closesAfterEach();
const SUSPENDED_MS = 1500;

/** A machine that has just been suspended, as it has read no end since. */
async function suspendedWith(idleMs: number) {
  const redis = await start(startServer());
  const store = await start(openRedisSessionStore({ url: redis.url, keys: ring }));
  let behindMs = 0;
  let reading = Promise.resolve();
  const machine = { ...REAL_MACHINE, performance: { now: () => performance.now() - behindMs } };
  const { ends } = store;
  const since: typeof ends.since = (...from) => reading.then(() => ends.since(...from));
  const sessions = await start(
    new LiveSessions({
      ...{ store: { ...store, ends: { ...ends, since } }, max: 100, machine },
      redeem: () => assert.fail('nothing is due'),
      reuseMsOf: () => 0,
      discard: () => undefined,
    }),
  );
  const session = await signIn(store, { idleMs });
  await until(async () => await sessions.find(session.hash));
  const gate = Promise.withResolvers<void>();
  reading = gate.promise;
  await setTimeout(SUSPENDED_MS);
  behindMs = SUSPENDED_MS;
  return { store, sessions, session, goOn: gate.resolve };
}

it('a use counts', async () => {
  // Uses are stored at intervals of a tenth of the idle time.
  const { store, sessions, session, goOn } = await suspendedWith(10_000);
  assert.ok(await sessions.use(session.hash));
  goOn();
  await until(async () => ((await store.find(session.hash))?.usedAtMs ?? 0) > session.usedAtMs);
});

it('a session that was idle for too long is not accepted', async () => {
  const { sessions, session, goOn } = await suspendedWith(SUSPENDED_MS - 100);
  assert.equal(await sessions.use(session.hash), undefined);
  goOn();
});
