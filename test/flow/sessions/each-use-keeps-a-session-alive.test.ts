// A use of a session is stored even if the session was read while something else changed, so that its answer is not kept in memory.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { LiveSessions } from '../../../gateway/sessions/live/live-sessions.ts';
import { openRedisSessionStore } from '../../../gateway/sessions/store/redis/redis-session-store.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { startServer } from '../../support/redis.ts';
import { until } from '../../unit/auth/samples.ts';
import { ring, signIn } from './store-samples.ts';

const start = closesAfterEach();
/** Uses are stored at intervals of a tenth of it. */
const IDLE_MS = 10_000;

it('a use counts that was read as another session ended', async () => {
  const redis = await start(startServer());
  const store = await start(openRedisSessionStore({ url: redis.url, keys: ring }));
  let arriving = Promise.resolve();
  const slow = {
    ...store,
    async find(hash: string) {
      const found = await store.find(hash);
      await arriving;
      return found;
    },
  };
  const sessions = await start(
    new LiveSessions({
      ...{ store: slow, max: 100 },
      redeem: () => assert.fail('nothing is due'),
      reuseMsOf: () => 0,
      discard: () => undefined,
    }),
  );
  const [session, other] = [await signIn(store, { idleMs: IDLE_MS }), await signIn(store)];
  const watched = await sessions.find(other.hash);
  assert.ok(watched);
  const isEnded = new Promise((resolve) => sessions.onEnded(watched, resolve));
  await setTimeout(IDLE_MS * 0.1 + 100);

  const gate = Promise.withResolvers<void>();
  arriving = gate.promise;
  const use = sessions.use(session.hash);
  await store.end(other.id, 'operator');
  await isEnded;
  gate.resolve();
  assert.ok(await use);
  await until(async () => ((await store.find(session.hash))?.usedAtMs ?? 0) > session.usedAtMs);
});
