// Both stores of deprecated calls count alike, together with other instances, and return their counts.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createRedisUseStore } from '../../../gateway/versions/redis-store.ts';
import { createSqliteUseStore } from '../../../gateway/versions/sqlite-store.ts';
import type { Use, UseStore } from '../../../gateway/versions/store.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { lookInside, startRedis, type TestRedis } from '../../support/redis.ts';

const NOW_MS = Date.parse('2027-06-01T12:00:00Z');
const now = () => NOW_MS;
const use = (calls: number, lastAtMs: number, more: Partial<Use> = {}): Use => ({
  day: '2027-06-01',
  organization: 'org_a',
  operation: 'GET /v1/a b',
  calls,
  lastAtMs,
  ...more,
});

function suite(name: string, open: () => Promise<UseStore>): void {
  it(`${name}: the counts of two instances are one count, with the later moment`, async () => {
    const [one, other] = [await open(), await open()];
    await one.add([use(3, NOW_MS)]);
    await other.add([use(2, NOW_MS - 5), use(1, NOW_MS, { organization: 'org_b' })]);
    const all = [...(await one.list('2027-06-01'))].sort((a, b) => a.organization.localeCompare(b.organization));
    assert.deepEqual(all, [use(5, NOW_MS), use(1, NOW_MS, { organization: 'org_b' })]);
    await one.close();
    await other.close();
  });

  it(`${name}: days before are left out`, async () => {
    const store = await open();
    await store.add([use(4, NOW_MS - 86_400_000, { day: '2027-05-31', operation: 'old' })]);
    assert.equal((await store.list('2027-05-31')).find(({ operation }) => operation === 'old')?.calls, 4);
    assert.equal(
      (await store.list('2027-06-01')).find(({ operation }) => operation === 'old'),
      undefined,
    );
    await store.close();
  });
}

describe('a store of deprecated calls', () => {
  let redis: TestRedis;
  const directory = temporaryDirectory();
  before(async () => {
    redis = await startRedis();
  });
  after(async () => {
    await redis.stop();
  });

  suite('SQLite', async () => createSqliteUseStore(directory, now));
  suite('Redis', () => createRedisUseStore(redis.url, now));

  it('Redis: forgets by itself after 400 days', async () => {
    const client = lookInside(redis.url);
    const names = await client.keys('*versions:{2027-06-01}:*');
    assert.equal(names.length, 2);
    for (const name of names) assert.ok((await client.ttl(name)) > 399 * 86_400);
    client.disconnect();
  });

  it('SQLite: forgets after 400 days', () => {
    const store = createSqliteUseStore(directory, now);
    store.add([
      use(1, 0, { day: '2026-04-27', operation: 'edge' }),
      use(1, 0, { day: '2026-04-28', operation: 'edge' }),
    ]);
    const days = (store.list('2000-01-01') as readonly Use[]).filter(({ operation }) => operation === 'edge');
    assert.deepEqual(
      days.map(({ day }) => day),
      ['2026-04-28'],
    );
    store.close();
  });
});
