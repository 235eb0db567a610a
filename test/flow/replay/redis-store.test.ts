import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { connectRedis, type Redis } from '../../../gateway/redis.ts';
import { createRedisStore } from '../../../gateway/replay/redis-store.ts';
import type { Slot, StoreStatus } from '../../../gateway/replay/store.ts';
import { until } from '../../support/connection.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { answerStoreSuite, newSlot } from './store-suite.ts';

let redis: TestRedis;
let client: Redis;

before(async () => {
  redis = await startRedis();
  const ready = Promise.withResolvers<void>();
  client = connectRedis({ url: redis.url, onReady: ready.resolve });
  await ready.promise;
});

after(async () => {
  client.disconnect();
  await redis.stop();
});

async function open(t: TestContext, onChange: (status: StoreStatus) => void = () => {}) {
  const store = await createRedisStore({ url: redis.url, onChange });
  t.after(() => store.close());
  return store;
}

const nameOf = ({ organization, mode, digest }: Slot) => `idem:{${organization}}:${mode}:${digest}`;

answerStoreSuite('Redis', async (t) => ({
  stores: [await open(t), await open(t)],
  async expire(slots) {
    for (const slot of slots) await client.pexpire(nameOf(slot), 0);
  },
}));

test('Redis forgets by itself: leases after the lease, answers after the time they are kept', async (t) => {
  const store = await open(t);
  const slot = newSlot();
  await store.begin(slot, 'f', 'me', 60_000);
  assert.ok(isJustBelow(await client.pttl(nameOf(slot)), 60_000));
  await store.finish(slot, 'me', Buffer.from('x'), 600_000);
  assert.ok(isJustBelow(await client.pttl(nameOf(slot)), 600_000));
  await store.begin(slot, 'f', 'you', 1);
  assert.ok(isJustBelow(await client.pttl(nameOf(slot)), 600_000), 'asking shortens nothing');
});

test('Redis holds no more of one key than the digests, the owner while it runs, and the answer', async (t) => {
  const store = await open(t);
  const slot = newSlot();
  await store.begin(slot, 'f', 'me', 60_000);
  assert.deepEqual(await client.hgetall(nameOf(slot)), { fingerprint: 'f', owner: 'me' });
  await store.finish(slot, 'me', Buffer.from('x'), 600_000);
  assert.deepEqual(await client.hgetall(nameOf(slot)), { fingerprint: 'f', record: 'x' });
});

test('a Redis that is away rejects, says so, and is used again when it is back', async (t) => {
  const changes: string[] = [];
  const store = await open(t, ({ state }) => changes.push(state));
  const slot = newSlot();
  await redis.kill();
  await until(() => store.status().state === 'away');
  await assert.rejects(async () => store.begin(slot, 'f', 'me', 60_000));
  await redis.restart();
  await until(() => store.status().state === 'up');
  assert.deepEqual(
    await store.begin(slot, 'f', 'me', 60_000),
    { state: 'started' },
    'a new server is told the scripts',
  );
  assert.deepEqual(changes, ['up', 'away', 'up']);
});

function isJustBelow(ms: number, boundMs: number): boolean {
  return ms <= boundMs && ms > boundMs - 30_000;
}
