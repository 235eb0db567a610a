// Redis is wiped, more than once: its log of ends begins with the same numbers each time, and no session of before is accepted.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createLiveSessions } from '../../../gateway/sessions/live/live-sessions.ts';
import { openRedisSessionStore } from '../../../gateway/sessions/store/redis/redis-session-store.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { lookInside, startServer } from '../../support/redis.ts';
import { until } from '../../unit/auth/samples.ts';
import { ring, signIn } from './store-samples.ts';

const start = closesAfterEach();

it('a session is gone with the store that had it, each time', async () => {
  const redis = await start(startServer());
  const store = await start(openRedisSessionStore({ url: redis.url, keys: ring }));
  const sessions = await start(
    createLiveSessions({
      ...{ store, max: 100 },
      redeem: () => assert.fail('nothing is due'),
      reuseMsOf: () => 0,
      discard: () => undefined,
    }),
  );
  const inside = lookInside(redis.url);
  await start({ close: async () => inside.disconnect() });
  for (let wipes = 0; wipes < 3; wipes += 1) {
    const { hash } = await signIn(store);
    assert.equal((await sessions.find(hash))?.hash, hash);
    await inside.flushall();
    await until(() => !sessions.isKnown(hash));
    assert.equal(await sessions.find(hash), undefined);
  }
});
