import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { connectRedis } from '../../../gateway/redis/client.ts';
import { createRedisReplayStore } from '../../../gateway/replay/redis-store.ts';
import type { AnswerKey, ReplayStoreStatus } from '../../../gateway/replay/replay-store.ts';
import { ENTRY_BYTES, FULL_RETAIN_MS } from '../../../gateway/replay/replay-store.ts';
import { until } from '../../support/connection.ts';
import { lookInside, startRedis, startServer } from '../../support/redis.ts';
import { claimOf, SENT_AT_MS } from './claim.ts';
import { LEASE_MS, newAnswerKey, RETENTION, replayStoreSuite } from './store-suite.ts';

const redis = await startRedis();
const ready = Promise.withResolvers<void>();
const client = connectRedis({ url: redis.url, onReady: ready.resolve });
await ready.promise;

after(async () => {
  client.disconnect();
  await redis.stop();
});

async function open(t: TestContext, onChange: (status: ReplayStoreStatus) => void = () => {}, { url } = redis) {
  const store = await createRedisReplayStore({ url, onChange });
  t.after(() => store.close());
  return store;
}

const nameOf = ({ organization, mode, digest }: AnswerKey) => `idem:{${organization}}:${mode}:${digest}`;
const usedOf = ({ organization }: AnswerKey) => `idem:{${organization}}:used`;

replayStoreSuite('Redis', async (t) => ({
  stores: [await open(t), await open(t)],
  async expire(keys) {
    for (const key of keys) for (const name of [nameOf(key), usedOf(key)]) await client.pexpire(name, 0);
  },
  async endLeases(keys) {
    for (const name of keys.map(nameOf)) {
      if ((await client.hexists(name, 'owner')) === 1) await client.pexpire(name, (await client.pttl(name)) - LEASE_MS);
    }
  },
}));

test('Redis forgets by itself: unknown outcomes and answers after the time they are kept', async (t) => {
  const store = await open(t);
  const key = newAnswerKey();
  await store.begin(key, claimOf('f', 'me', 60_000));
  assert.ok(isJustBelow(await client.pttl(nameOf(key)), RETENTION.retainMs + 60_000));
  await store.finish(key, 'me', Buffer.from('x'), RETENTION);
  assert.ok(isJustBelow(await client.pttl(nameOf(key)), RETENTION.retainMs));
  await store.begin(key, claimOf('f', 'you', 1));
  assert.ok(isJustBelow(await client.pttl(nameOf(key)), RETENTION.retainMs), 'reading shortens nothing');
  const lost = newAnswerKey();
  await store.begin(lost, claimOf('f', 'me', 60_000, { retainMs: 100_000 }));
  await store.giveUp(lost, 'me', RETENTION);
  assert.ok(isJustBelow(await client.pttl(nameOf(lost)), 100_000));
  assert.ok(isJustBelow(await client.pttl(usedOf(lost)), RETENTION.retainMs));
});

test('Redis holds no more of one key than the digests, the owner and the sent flag while it runs, and the answer', async (t) => {
  const store = await open(t);
  const key = newAnswerKey();
  await store.begin(key, claimOf('f', 'me', 60_000));
  assert.deepEqual(await client.hgetall(nameOf(key)), {
    fingerprint: 'f',
    owner: 'me',
    known: `3600000 ${SENT_AT_MS} things`,
  });
  await store.finish(key, 'me', Buffer.from('x'), RETENTION);
  assert.deepEqual(await client.hgetall(nameOf(key)), { fingerprint: 'f', record: 'x' });
});

test('an answer beyond the bound is remembered for ten minutes, or for less where answers are kept for less', async (t) => {
  const store = await open(t);
  for (const [retainMs, rememberedMs] of [
    [RETENTION.retainMs, FULL_RETAIN_MS],
    [60_000, 60_000],
  ] as const) {
    const key = newAnswerKey();
    await store.begin(key, claimOf('f', 'me', 5000));
    await store.finish(key, 'me', Buffer.from('x'), { retainMs, organizationBytesMax: ENTRY_BYTES });
    assert.deepEqual(await client.hgetall(nameOf(key)), { fingerprint: 'f' });
    assert.ok(isJustBelow(await client.pttl(nameOf(key)), rememberedMs));
    assert.equal(await client.exists(usedOf(key)), 0, 'and counts for nothing');
  }
});

test('the stored bytes of an organization count from its first answer until that expires, however many follow', async (t) => {
  const store = await open(t);
  const key = newAnswerKey();
  const bytes = Buffer.from([0x78, 0xff]);
  for (const digest of ['first', 'second']) {
    await store.begin({ ...key, digest }, claimOf('f', 'me', 5000));
    await store.finish({ ...key, digest }, 'me', bytes, RETENTION);
    if (digest === 'second') continue;
    assert.ok(isJustBelow(await client.pttl(usedOf(key)), RETENTION.retainMs));
    await client.pexpire(usedOf(key), RETENTION.retainMs - 60_000);
  }
  assert.ok((await client.pttl(usedOf(key))) <= RETENTION.retainMs - 60_000);
  assert.equal(Number(await client.get(usedOf(key))), 2 * (3 + ENTRY_BYTES), 'a byte above 127 takes two in Redis');
});

test('a full Redis is away until there is room: forgetting and giving again work on it and say nothing', async (t) => {
  const small = await startServer('--maxmemory', '8mb', '--maxmemory-policy', 'noeviction');
  t.after(() => small.stop());
  const changes: string[] = [];
  const store = await open(t, ({ state }) => changes.push(state), small);
  const filler = lookInside(small.url);
  t.after(() => filler.disconnect());
  const known = newAnswerKey();
  await store.begin(known, claimOf('f', 'me', 60_000));
  await store.finish(known, 'me', Buffer.from('x'), RETENTION);
  await filler.setrange('filler', 8 * 1024 * 1024, 'x');
  for (let i = 0; i < 3; i++) {
    const key = newAnswerKey();
    await assert.rejects(async () => store.begin(key, claimOf('f', 'me', 60_000)), /OOM/);
    await store.forget(key, 'me');
    assert.equal((await store.begin(known, claimOf('f', 'you', 60_000))).state, 'done');
    assert.equal(store.status().state, 'away');
  }
  assert.deepEqual(changes, ['up', 'away']);
  await filler.del('filler');
  await store.begin(newAnswerKey(), claimOf('f', 'me', 60_000));
  assert.deepEqual(changes, ['up', 'away', 'up']);
});

test('a request that ran is kept even if Redis is full when it ends, so that it does not run twice', async (t) => {
  const small = await startServer('--maxmemory', '8mb', '--maxmemory-policy', 'noeviction');
  t.after(() => small.stop());
  const store = await open(t, undefined, small);
  const filler = lookInside(small.url);
  t.after(() => filler.disconnect());
  const key = newAnswerKey();
  await store.begin(key, claimOf('f', 'me', 60_000));
  await filler.setrange('filler', 8 * 1024 * 1024, 'x');
  await store.finish(key, 'me', Buffer.from('x'), RETENTION);
  assert.deepEqual(await store.begin(key, claimOf('f', 'you', 60_000)), { state: 'done', outcome: Buffer.from('x') });
});

test('a Redis that is away rejects with the reason, and is used again when it is back', async (t) => {
  const changes: string[] = [];
  const store = await open(t, ({ state }) => changes.push(state));
  const key = newAnswerKey();
  await redis.kill();
  await until(() => store.status().state === 'away');
  await assert.rejects(async () => store.begin(key, claimOf('f', 'me', 60_000)));
  await redis.restart();
  await until(() => store.status().state === 'up');
  assert.deepEqual(
    await store.begin(key, claimOf('f', 'me', 60_000)),
    { state: 'started' },
    'a new server gets the scripts',
  );
  assert.deepEqual(changes, ['up', 'away', 'up']);
});

function isJustBelow(ms: number, boundMs: number): boolean {
  return ms <= boundMs && ms > boundMs - 30_000;
}
