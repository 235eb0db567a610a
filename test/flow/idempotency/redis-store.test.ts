import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { createRedisAnswerStore } from '../../../gateway/idempotency/redis-store.ts';
import type { AnswerStoreStatus, Slot } from '../../../gateway/idempotency/store.ts';
import { FULL_RETAIN_MS, SLOT_BYTES } from '../../../gateway/idempotency/store.ts';
import { connectRedis } from '../../../gateway/redis/client.ts';
import { until } from '../../support/connection.ts';
import { lookInside, startRedis, startServer } from '../../support/redis.ts';
import { claimOf, SENT_AT_MS } from './claim.ts';
import { answerStoreSuite, LEASE_MS, newSlot, RETENTION } from './store-suite.ts';

const redis = await startRedis();
const ready = Promise.withResolvers<void>();
const client = connectRedis({ url: redis.url, onReady: ready.resolve });
await ready.promise;

after(async () => {
  client.disconnect();
  await redis.stop();
});

async function open(t: TestContext, onChange: (status: AnswerStoreStatus) => void = () => {}, { url } = redis) {
  const store = await createRedisAnswerStore({ url, onChange });
  t.after(() => store.close());
  return store;
}

const nameOf = ({ organization, mode, digest }: Slot) => `idem:{${organization}}:${mode}:${digest}`;
const usedOf = ({ organization }: Slot) => `idem:{${organization}}:used`;

answerStoreSuite('Redis', async (t) => ({
  stores: [await open(t), await open(t)],
  async expire(slots) {
    for (const slot of slots) for (const name of [nameOf(slot), usedOf(slot)]) await client.pexpire(name, 0);
  },
  async endLeases(slots) {
    for (const name of slots.map(nameOf)) {
      if ((await client.hexists(name, 'owner')) === 1) await client.pexpire(name, (await client.pttl(name)) - LEASE_MS);
    }
  },
}));

test('Redis forgets by itself: unknown outcomes and answers after the time they are kept', async (t) => {
  const store = await open(t);
  const slot = newSlot();
  await store.begin(slot, claimOf('f', 'me', 60_000));
  assert.ok(isJustBelow(await client.pttl(nameOf(slot)), RETENTION.retainMs + 60_000));
  await store.finish(slot, 'me', Buffer.from('x'), RETENTION);
  assert.ok(isJustBelow(await client.pttl(nameOf(slot)), RETENTION.retainMs));
  await store.begin(slot, claimOf('f', 'you', 1));
  assert.ok(isJustBelow(await client.pttl(nameOf(slot)), RETENTION.retainMs), 'reading shortens nothing');
  const lost = newSlot();
  await store.begin(lost, claimOf('f', 'me', 60_000, { retainMs: 100_000 }));
  await store.giveUp(lost, 'me', RETENTION);
  assert.ok(isJustBelow(await client.pttl(nameOf(lost)), 100_000));
  assert.ok(isJustBelow(await client.pttl(usedOf(lost)), RETENTION.retainMs));
});

test('Redis holds no more of one key than the digests, the owner and the sent flag while it runs, and the answer', async (t) => {
  const store = await open(t);
  const slot = newSlot();
  await store.begin(slot, claimOf('f', 'me', 60_000));
  assert.deepEqual(await client.hgetall(nameOf(slot)), {
    fingerprint: 'f',
    owner: 'me',
    known: `3600000 ${SENT_AT_MS} things`,
  });
  await store.finish(slot, 'me', Buffer.from('x'), RETENTION);
  assert.deepEqual(await client.hgetall(nameOf(slot)), { fingerprint: 'f', record: 'x' });
});

test('an answer beyond the bound is remembered for ten minutes, or for less where answers are kept for less', async (t) => {
  const store = await open(t);
  for (const [retainMs, rememberedMs] of [
    [RETENTION.retainMs, FULL_RETAIN_MS],
    [60_000, 60_000],
  ] as const) {
    const slot = newSlot();
    await store.begin(slot, claimOf('f', 'me', 5000));
    await store.finish(slot, 'me', Buffer.from('x'), { retainMs, organizationBytesMax: SLOT_BYTES });
    assert.deepEqual(await client.hgetall(nameOf(slot)), { fingerprint: 'f' });
    assert.ok(isJustBelow(await client.pttl(nameOf(slot)), rememberedMs));
    assert.equal(await client.exists(usedOf(slot)), 0, 'and counts for nothing');
  }
});

test('the stored bytes of an organization count from its first answer until that expires, however many follow', async (t) => {
  const store = await open(t);
  const slot = newSlot();
  const bytes = Buffer.from([0x78, 0xff]);
  for (const digest of ['first', 'second']) {
    await store.begin({ ...slot, digest }, claimOf('f', 'me', 5000));
    await store.finish({ ...slot, digest }, 'me', bytes, RETENTION);
    if (digest === 'second') continue;
    assert.ok(isJustBelow(await client.pttl(usedOf(slot)), RETENTION.retainMs));
    await client.pexpire(usedOf(slot), RETENTION.retainMs - 60_000);
  }
  assert.ok((await client.pttl(usedOf(slot))) <= RETENTION.retainMs - 60_000);
  assert.equal(Number(await client.get(usedOf(slot))), 2 * (3 + SLOT_BYTES), 'a byte above 127 takes two in Redis');
});

test('a full Redis is away until there is room: forgetting and giving again work on it and say nothing', async (t) => {
  const small = await startServer('--maxmemory', '8mb', '--maxmemory-policy', 'noeviction');
  t.after(() => small.stop());
  const changes: string[] = [];
  const store = await open(t, ({ state }) => changes.push(state), small);
  const filler = lookInside(small.url);
  t.after(() => filler.disconnect());
  const known = newSlot();
  await store.begin(known, claimOf('f', 'me', 60_000));
  await store.finish(known, 'me', Buffer.from('x'), RETENTION);
  await filler.setrange('filler', 8 * 1024 * 1024, 'x');
  for (let i = 0; i < 3; i++) {
    const slot = newSlot();
    await assert.rejects(async () => store.begin(slot, claimOf('f', 'me', 60_000)), /OOM/);
    await store.forget(slot, 'me');
    assert.equal((await store.begin(known, claimOf('f', 'you', 60_000))).state, 'done');
    assert.equal(store.status().state, 'away');
  }
  assert.deepEqual(changes, ['up', 'away']);
  await filler.del('filler');
  await store.begin(newSlot(), claimOf('f', 'me', 60_000));
  assert.deepEqual(changes, ['up', 'away', 'up']);
});

test('a request that ran is kept even if Redis is full when it ends, so that it does not run twice', async (t) => {
  const small = await startServer('--maxmemory', '8mb', '--maxmemory-policy', 'noeviction');
  t.after(() => small.stop());
  const store = await open(t, undefined, small);
  const filler = lookInside(small.url);
  t.after(() => filler.disconnect());
  const slot = newSlot();
  await store.begin(slot, claimOf('f', 'me', 60_000));
  await filler.setrange('filler', 8 * 1024 * 1024, 'x');
  await store.finish(slot, 'me', Buffer.from('x'), RETENTION);
  assert.deepEqual(await store.begin(slot, claimOf('f', 'you', 60_000)), { state: 'done', record: Buffer.from('x') });
});

test('a Redis that is away rejects with the reason, and is used again when it is back', async (t) => {
  const changes: string[] = [];
  const store = await open(t, ({ state }) => changes.push(state));
  const slot = newSlot();
  await redis.kill();
  await until(() => store.status().state === 'away');
  await assert.rejects(async () => store.begin(slot, claimOf('f', 'me', 60_000)));
  await redis.restart();
  await until(() => store.status().state === 'up');
  assert.deepEqual(
    await store.begin(slot, claimOf('f', 'me', 60_000)),
    { state: 'started' },
    'a new server gets the scripts',
  );
  assert.deepEqual(changes, ['up', 'away', 'up']);
});

function isJustBelow(ms: number, boundMs: number): boolean {
  return ms <= boundMs && ms > boundMs - 30_000;
}
