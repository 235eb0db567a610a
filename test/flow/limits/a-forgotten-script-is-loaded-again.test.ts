// Redis forgets scripts when it is flushed or restarted: the next decision must not notice.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { createRedisCounterStore } from '../../../gateway/limits/counters/redis/redis-counter-store.ts';
import { startRedis } from '../../support/redis.ts';
import { charge } from '../../unit/limits/scenarios.ts';

test('after SCRIPT FLUSH the counters still count', async (t) => {
  const redis = await startRedis();
  t.after(() => redis.stop());
  const admin = new Redis(redis.url);
  t.after(() => admin.disconnect());
  const store = createRedisCounterStore({
    url: redis.url,
    whenStoreIsAway: () => 'refuse',
    now: Date.now,
    deadlineMs: 5_000,
  });
  t.after(() => store.close());
  await store.firstAttempt;
  const charges = [charge({ counter: `rl:{org_${randomUUID()}}:organization` })];
  await store.decide(charges);
  await admin.script('FLUSH');
  const { outcome, source, states } = await store.decide(charges);
  assert.deepEqual([outcome, source, states[0]?.remaining], ['admitted', 'redis', 98]);
  assert.equal(store.status().state, 'up');
});
