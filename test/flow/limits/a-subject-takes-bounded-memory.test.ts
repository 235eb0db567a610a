// A counter in Redis has at most 150 entries, for every limit and traffic, and disappears with its window.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { Redis } from 'ioredis';
import { createRedisCounterStore } from '../../../gateway/limits/counters/redis/redis-counter-store.ts';
import { startRedis } from '../../support/redis.ts';
import { charge, START_MS } from '../../unit/limits/scenarios.ts';

let clockMs = START_MS;

const redis = await startRedis();
const admin = new Redis(redis.url);
const whenStoreIsAway = () => 'refuse' as const;
const serverClock = () => clockMs;
const store = createRedisCounterStore({
  url: redis.url,
  whenStoreIsAway,
  now: Date.now,
  deadlineMs: 5_000,
  serverClock,
});
await store.firstAttempt;

after(async () => {
  await store.close();
  admin.disconnect();
  await redis.stop();
});

async function serverMs(): Promise<number> {
  const [seconds = 0, microseconds = 0] = await admin.time();
  return seconds * 1000 + Math.floor(microseconds / 1000);
}

const keyOf = () => `rl:{org_${randomUUID()}}:organization`;

test('at most 150 entries and 4 KB, at a million requests a minute as at a hundred', async () => {
  const key = keyOf();
  const charges = [charge({ counter: key, requests: 1_000_000 })];
  let longest = 0;
  for (let step = 0; step < 600; step += 1) {
    clockMs += step % 2 === 0 ? 599 : 7;
    await Promise.all(Array.from({ length: 20 }, () => store.decide(charges)));
    longest = Math.max(longest, await admin.llen(key));
  }
  assert.ok(longest >= 99 && longest <= 150, `${longest} entries`);
  assert.ok(Number(await admin.memory('USAGE', key, 'SAMPLES', 0)) <= 4_096);
});

test('a counter outlives its last admission by one window and a hundredth at most', async () => {
  const key = keyOf();
  const beforeMs = await serverMs();
  await store.decide([charge({ counter: key, windowSeconds: 60 })]);
  const afterMs = await serverMs();
  const endsAtMs = await admin.pexpiretime(key);
  const outlives = `${endsAtMs - beforeMs} to ${endsAtMs - afterMs} ms`;
  assert.ok(endsAtMs > beforeMs + 60_000 && endsAtMs <= afterMs + 60_600, outlives);
});

test('a refusal writes nothing', async () => {
  const key = keyOf();
  const charges = [charge({ counter: key, requests: 1 })];
  await store.decide(charges);
  const before = [await admin.lrange(key, 0, -1), await admin.pexpiretime(key)];
  clockMs += 30_000;
  assert.equal((await store.decide(charges)).outcome, 'refused');
  assert.deepEqual([await admin.lrange(key, 0, -1), await admin.pexpiretime(key)], before);
});
