// Both usage stores add each batch once, answer questions alike, and keep what they should for as long as they should.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, it } from 'node:test';
import { createRedisUsageStore } from '../../../gateway/usage/redis-store.ts';
import {
  positionIn,
  positionText,
  USAGE_GROUPS,
  type UsageQuestion,
  type UsageSum,
  usagePage,
} from '../../../gateway/usage/report.ts';
import { createSqliteUsageStore } from '../../../gateway/usage/sqlite-store.ts';
import type { Entry, UsageBatch, UsageCount, UsageStore, UsageStoreOptions } from '../../../gateway/usage/store.ts';
import { createRandom } from '../../chaos/random.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { lookInside, startRedis, startServer, type TestRedis } from '../../support/redis.ts';
import { DAY_MS, entry, HOUR_MS, NOW_MS } from '../../unit/usage/samples.ts';

const start = closesAfterEach();
const dayOf = (atMs: number) => Math.floor(atMs / DAY_MS) * DAY_MS;
const now = () => NOW_MS;
/** The stores are shared by all tests of this file. */
const anOrganization = () => `org_${randomUUID()}`;

function batchOf(organization: string, number: number, entries: readonly Entry[]): UsageBatch {
  return { number, organization, dayMs: dayOf(entries[0]?.hourMs ?? NOW_MS), entries };
}

async function add(store: UsageStore, writer: string, batch: UsageBatch): Promise<void> {
  await store.add(writer, [batch]);
}

const QUESTION: Omit<UsageQuestion, 'organization'> = {
  unit: 'day',
  fromMs: NOW_MS - 400 * DAY_MS,
  toMs: NOW_MS,
  groups: [],
  limit: 100,
};

type Asked = Partial<UsageQuestion> & Pick<UsageQuestion, 'organization'>;

async function pageOf(store: UsageStore, asked: Asked, keepDays = 400) {
  return usagePage({ ...QUESTION, ...asked }, { store, keepDays, nowMs: NOW_MS });
}

/** Page by page, each position as the text of a cursor. */
async function allOf(store: UsageStore, asked: Asked): Promise<UsageSum[]> {
  const all: UsageSum[] = [];
  for (let position: UsageQuestion['position']; ; ) {
    const page = await pageOf(store, { ...asked, position });
    all.push(...page.sums);
    if (page.next === undefined) return all;
    position = positionIn(positionText(page.next));
  }
}

const totalOf = (sums: readonly { readonly requests: number }[]) => sums.reduce((sum, one) => sum + one.requests, 0);

type Open = (options?: Partial<UsageStoreOptions>) => Promise<UsageStore>;

function suite(name: string, open: Open): void {
  it(`${name}: adds a batch once, however often it is sent`, async () => {
    const store = await start(open());
    const organization = anOrganization();
    const batches = [1, 2, 3].map((number) => batchOf(organization, number, [entry({ requests: 10 ** number })]));
    for (const batch of batches) for (let sent = 0; sent < 3; sent += 1) await add(store, 'one', batch);
    for (const batch of batches) await add(store, 'one', batch);
    assert.equal(totalOf(await allOf(store, { organization })), 1110);
  });

  it(`${name}: adds the batches of many organizations at once, but for those it has`, async () => {
    const store = await start(open());
    const organizations = Array.from({ length: store.batchesMax }, anOrganization);
    const batches = organizations.map((organization, index) =>
      batchOf(organization, index + 1, [entry({ requests: index + 1 }), entry({ requests: 1000, key: 'key_2' })]),
    );
    await store.add('one', batches.slice(0, 3));
    await store.add('one', batches);
    await store.add('other', batches.slice(-1));
    const totals = await Promise.all(
      organizations.map(async (organization) => totalOf(await allOf(store, { organization }))),
    );
    const added = batches.map((_, index) => (index + 1 === batches.length ? 2 : 1) * (index + 1001));
    assert.deepEqual(totals, added);
  });

  it(`${name}: knows the batches of each writer and organization by themselves`, async () => {
    const [one, other] = [await start(open()), await start(open())];
    const [organization, second] = [anOrganization(), anOrganization()];
    await add(one, 'one', batchOf(second, 9, [entry()]));
    // Sent later, because it failed before.
    await add(one, 'one', batchOf(organization, 2, [entry({ requests: 5 })]));
    await add(other, 'other', batchOf(organization, 1, [entry({ requests: 7 })]));
    for (const unit of ['hour', 'day', 'month'] as const)
      assert.deepEqual(
        (await allOf(one, { organization, unit })).map(({ requests }) => requests),
        [12],
        unit,
      );
  });

  it(`${name}: gives names back as they were, and to their organization alone`, async () => {
    const store = await start(open());
    const organization = anOrganization();
    const names = [
      '__proto__',
      'a b',
      'a,"b"]',
      "it's; DROP TABLE counts",
      '#one',
      '[1,2]',
      'ü\n\u2028',
      'x'.repeat(255),
    ];
    await add(
      store,
      'one',
      batchOf(
        organization,
        1,
        names.map((key) => entry({ key, operation: `op ${key}` })),
      ),
    );
    const sums = await allOf(store, { organization, groups: ['operation', 'key'], limit: 3 });
    assert.deepEqual(sums.map(({ key }) => key).sort(), [...names].sort());
    assert.ok(sums.every(({ key, operation }) => operation === `op ${key}`));
    assert.deepEqual(await allOf(store, { organization: `${organization}x` }), []);
    assert.deepEqual(await allOf(store, { organization: `${organization}}:day:{` }), []);
  });

  it(`${name}: filters by operation and key, and splits by class of status`, async () => {
    const store = await start(open());
    const organization = anOrganization();
    await add(
      store,
      'one',
      batchOf(organization, 1, [
        entry({ requests: 1 }),
        entry({ requests: 2, operation: 'createThing' }),
        entry({ requests: 4, key: 'key_2' }),
        entry({ requests: 8, statusClass: 5 }),
        entry({ requests: 16, hourMs: NOW_MS - 12.5 * HOUR_MS }),
      ]),
    );
    const total = async (asked: Partial<UsageQuestion>) => totalOf(await allOf(store, { organization, ...asked }));
    assert.equal(await total({ operation: 'createThing' }), 2);
    assert.equal(await total({ key: 'key_2' }), 4);
    assert.equal(await total({ key: 'key_2', operation: 'createThing' }), 0);
    assert.equal(await total({ unit: 'hour', fromMs: NOW_MS }), 15);
    const classes = await allOf(store, { organization, groups: ['status_class'] });
    assert.deepEqual(
      classes.map(({ statusClass, requests }) => [statusClass, requests]),
      [
        ['2xx', 23],
        ['5xx', 8],
      ],
    );
  });

  it(`${name}: whatever is asked, the sums are those of all counts, in order and in pages alike`, async () => {
    const store = await start(open());
    const organization = anOrganization();
    const random = createRandom(Number(process.env.USAGE_SEED ?? 7));
    const all: UsageCount[] = [];
    for (let number = 1; number <= 60; number += 1) {
      const dayMs = dayOf(NOW_MS) - random.between(0, 99) * DAY_MS;
      const entries = Array.from({ length: random.between(1, 30) }, () =>
        entry({
          hourMs: dayMs + random.between(0, 23) * HOUR_MS,
          operation: `op${random.between(0, 5)}`,
          key: `key_${random.between(0, 4)}`,
          statusClass: random.between(1, 5) as Entry['statusClass'],
          requests: random.between(1, 1000),
        }),
      );
      all.push(...entries.map((one) => ({ ...one, periodMs: one.hourMs })));
      await add(store, 'one', batchOf(organization, number, entries));
    }
    for (let run = 0; run < 12; run += 1) {
      const [oneMs, otherMs] = [0, 0].map(() => NOW_MS - random.between(0, 100 * DAY_MS)) as [number, number];
      const asked = {
        organization,
        unit: (['hour', 'day', 'month'] as const)[random.between(0, 2)] ?? 'hour',
        fromMs: Math.min(oneMs, otherMs),
        toMs: Math.max(oneMs, otherMs),
        ...(random.between(0, 2) === 0 && { operation: 'op1' }),
        ...(random.between(0, 3) === 0 && { key: 'key_1' }),
      };
      const ungrouped = await allOf(store, asked);
      const from = ungrouped[0]?.fromMs ?? 0;
      const to = ungrouped.at(-1)?.toMs ?? 0;
      const expected = all.filter(
        ({ periodMs, operation, key }) =>
          periodMs >= from &&
          periodMs < to &&
          (asked.operation ?? operation) === operation &&
          (asked.key ?? key) === key,
      );
      assert.equal(totalOf(ungrouped), totalOf(expected));
      const groups = USAGE_GROUPS.filter(() => random.between(0, 1) === 1);
      const grouped = await allOf(store, { ...asked, groups });
      const paged = await allOf(store, { ...asked, groups, limit: random.between(1, 7) });
      assert.deepEqual(paged, grouped);
      const byPeriod = Map.groupBy(grouped, ({ fromMs }) => fromMs);
      assert.deepEqual(
        ungrouped.map(({ fromMs, requests }) => [fromMs, requests]),
        [...byPeriod].map(([fromMs, sums]) => [fromMs, totalOf(sums)]),
      );
    }
  });

  it(`${name}: a page goes on where it ended, whatever is counted before`, async () => {
    const store = await start(open());
    const organization = anOrganization();
    await add(
      store,
      'one',
      batchOf(
        organization,
        1,
        ['b', 'd', 'f'].map((key) => entry({ key })),
      ),
    );
    const asked = { organization, groups: ['key'], limit: 2 } as const;
    const first = await pageOf(store, asked);
    await add(
      store,
      'one',
      batchOf(
        organization,
        2,
        ['a', 'c', 'e', 'g'].map((key) => entry({ key })),
      ),
    );
    const second = await pageOf(store, { ...asked, position: first.next, limit: 9 });
    assert.deepEqual(
      [...first.sums, ...second.sums].map(({ key }) => key),
      ['b', 'd', 'e', 'f', 'g'],
    );
  });

  it(`${name}: folds further details of a span, and loses no request`, async () => {
    const store = await start(open({ detailsMax: 10 }));
    const organization = anOrganization();
    for (let number = 1; number <= 5; number += 1) {
      const entries = Array.from({ length: 40 }, (_, index) =>
        entry({ key: `key_${index}`, operation: `op${number}` }),
      );
      await add(store, 'one', batchOf(organization, number, entries));
    }
    for (const unit of ['hour', 'day', 'month'] as const) {
      const sums = await allOf(store, { organization, unit, groups: ['operation', 'key'] });
      assert.equal(totalOf(sums), 200);
      assert.ok(sums.length <= 11, `${sums.length} details`);
      assert.deepEqual([sums[0]?.operation, sums[0]?.key], [null, null]);
    }
  });

  it(`${name}: reads a span of many details in pieces, and loses none`, async () => {
    const store = await start(open());
    const organization = anOrganization();
    const hours = Array.from({ length: 10 }, (_, hour) => hour);
    for (const hour of hours) {
      const hourMs = dayOf(NOW_MS) + hour * HOUR_MS;
      const entries = Array.from({ length: 300 }, (_, index) => entry({ hourMs, key: `key_${index}` }));
      await add(store, 'one', batchOf(organization, hour + 1, entries));
    }
    const asked = { organization, unit: 'hour' } as const;
    for (const limit of [1, 2, 100]) {
      const sums = await allOf(store, { ...asked, limit });
      assert.deepEqual(
        sums.map(({ requests }) => requests),
        hours.map(() => 300),
      );
    }
    for (const limit of [400, 1300, 5000]) {
      const byKey = await allOf(store, { ...asked, groups: ['key'], limit });
      assert.deepEqual([byKey.length, totalOf(byKey)], [3000, 3000]);
      assert.deepEqual(
        byKey.map(({ fromMs }) => fromMs),
        byKey.map(({ fromMs }) => fromMs).toSorted(),
      );
    }
    const ofOne = await allOf(store, { ...asked, groups: ['key'], key: 'key_7' });
    assert.deepEqual([ofOne.length, totalOf(ofOne)], [10, 10]);
  });

  it(`${name}: shows nothing that is older than the days to keep`, async () => {
    const store = await start(open());
    const organization = anOrganization();
    for (const [index, days] of [0, 6, 7, 8].entries())
      await add(store, 'one', batchOf(organization, index + 1, [entry({ hourMs: dayOf(NOW_MS) - days * DAY_MS })]));
    const days = (await pageOf(store, { organization }, 7)).sums.map(({ fromMs }) => (dayOf(NOW_MS) - fromMs) / DAY_MS);
    assert.deepEqual(days, [7, 6, 0], 'the oldest day is the one that is kept in part');
  });

  it(`${name}: a question about all times is answered at once`, async () => {
    const store = await start(open());
    const organization = anOrganization();
    await add(store, 'one', batchOf(organization, 1, [entry()]));
    const asked = { organization, fromMs: Date.UTC(-200, 0), toMs: Date.UTC(9999, 11) };
    for (const unit of ['hour', 'day', 'month'] as const)
      assert.equal(totalOf(await allOf(store, { ...asked, unit })), 1, unit);
  });

  it(`${name}: is complete until the oldest mark of an instance that is heard of`, async () => {
    const store = await start(open());
    const organization = anOrganization();
    const completeUntil = async () => (await pageOf(store, { organization })).completeUntilMs - NOW_MS;
    await store.mark('silent for an hour', NOW_MS - HOUR_MS);
    assert.equal(await completeUntil(), -8000, 'an instance without a mark may have counted');
    await store.mark('one', NOW_MS - 1000);
    await store.mark('cut off', NOW_MS - 30_000);
    assert.equal(await completeUntil(), -30_000);
    await store.mark('cut off', NOW_MS - 100);
    assert.equal(await completeUntil(), -8000);
    await store.mark('cut off', NOW_MS - 20_000);
    await store.end('cut off');
    assert.equal(await completeUntil(), -8000);
    await store.end('one');
  });
}

describe('a usage store', () => {
  let redis: TestRedis;
  const directory = temporaryDirectory();
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());

  const options = { keepDays: () => 400, now };
  suite('SQLite', async (more) => createSqliteUsageStore({ directory, ...options, ...more }));
  suite('Redis', (more) => createRedisUsageStore({ url: redis.url, ...options, ...more }));

  it('Redis: sends the counts of a page, and not all counts of a busy day', async () => {
    const own = await start(startServer().then((server) => ({ ...server, close: server.stop })));
    const store = await start(createRedisUsageStore({ url: own.url, ...options }));
    const organization = 'org_busy';
    for (let hour = 0; hour < 12; hour += 1) {
      const hourMs = dayOf(NOW_MS) + hour * HOUR_MS;
      const entries = Array.from({ length: 500 }, (_, index) => entry({ hourMs, key: `key_${index}` }));
      await add(store, 'one', batchOf(organization, hour + 1, entries));
    }
    const client = lookInside(own.url);
    const figures = async () => {
      const text = await client.info('everything');
      const [bytes, calls] = [/total_net_output_bytes:(\d+)/, /cmdstat_hscan:calls=(\d+)/].map((one) =>
        Number(one.exec(text)?.[1] ?? 0),
      );
      return { bytes: bytes ?? 0, calls: calls ?? 0 };
    };
    const costOf = async (asked: Partial<UsageQuestion>) => {
      const before = await figures();
      // What the report itself sends.
      const { bytes: idle } = await figures();
      await pageOf(store, { organization, unit: 'hour', fromMs: dayOf(NOW_MS), ...asked });
      const after = await figures();
      return { bytes: after.bytes - idle - (idle - before.bytes), calls: after.calls - before.calls };
    };
    const whole = await costOf({ groups: [] });
    const parts = {
      'of one key': await costOf({ groups: [], key: 'key_7' }),
      'by key': await costOf({ groups: ['key'] }),
      'by key, further on': await costOf({
        groups: ['key'],
        position: { periodMs: dayOf(NOW_MS) + 10 * HOUR_MS, after: undefined },
      }),
    };
    client.disconnect();
    assert.ok(whole.calls <= 8, `${whole.calls} steps for 6,000 counts`);
    assert.ok(whole.bytes > 150_000, `${whole.bytes}`);
    for (const [what, { bytes, calls }] of Object.entries(parts)) {
      assert.ok(bytes < whole.bytes * 0.5, `${what}: ${bytes} of ${whole.bytes} bytes`);
      assert.ok(calls <= whole.calls, `${what}: ${calls} steps`);
    }
  });

  it('Redis: a hash ends when the last of its periods is older than the days to keep', async () => {
    const store = await start(createRedisUsageStore({ url: redis.url, ...options }));
    const organization = anOrganization();
    await add(store, 'one', batchOf(organization, 1, [entry()]));
    const client = lookInside(redis.url);
    const names = await client.keys(`*usage:{${organization}}:*`);
    const ends = await Promise.all(
      names.map(async (name) => [
        name.replace(/^.*:\{.*\}:/, ''),
        await client.call('EXPIRETIME', name).catch(() => undefined),
      ]),
    );
    client.disconnect();
    const expected = { 'hour:2026-11-26': '2027-11-27', 'day:2026-11': '2026-12-01', 'month:2026': '2027-01-01' };
    assert.deepEqual(ends.map(([name]) => name).sort(), Object.keys(expected).sort());
    for (const [name, end] of ends)
      if (typeof end === 'number') {
        const endOf = { hour: '2026-11-27', day: '2026-12-01', month: '2027-01-01' }[
          String(name).split(':')[0] as 'hour'
        ];
        assert.equal(end * 1000, Date.parse(endOf) + 400 * DAY_MS, String(name));
      }
  });

  it('SQLite: removes old counts in small steps', async () => {
    const place = temporaryDirectory();
    const store = await start(createSqliteUsageStore({ directory: place, ...options, keepDays: () => 30 }));
    const organization = anOrganization();
    const entries = (atMs: number) =>
      Array.from({ length: 700 }, (_, index) => entry({ hourMs: atMs, key: `key_${index}` }));
    await add(store, 'one', batchOf(organization, 1, entries(dayOf(NOW_MS) - 31 * DAY_MS)));
    await add(store, 'one', batchOf(organization, 2, entries(dayOf(NOW_MS) - 30 * DAY_MS)));
    const look = new DatabaseSync(join(place, 'usage.sqlite'), { readOnly: true });
    const rows = () => Number(look.prepare("SELECT count(*) AS rows FROM counts WHERE unit = 'hour'").get()?.rows);
    assert.equal(rows(), 1400);
    await store.purge();
    assert.equal(rows(), 900);
    for (let step = 0; step < 5; step += 1) await store.purge();
    assert.equal(rows(), 700);
    assert.equal(look.prepare("SELECT count(*) AS rows FROM spans WHERE unit = 'hour'").get()?.rows, 1);
    look.close();
  });

  it('SQLite: a batch that breaks off is not there by half', async () => {
    const place = temporaryDirectory();
    const store = await start(createSqliteUsageStore({ directory: place, ...options }));
    const organization = anOrganization();
    const other = new DatabaseSync(join(place, 'usage.sqlite'));
    other.exec(
      `CREATE TRIGGER break BEFORE INSERT ON counts WHEN new.key = 'key_3' BEGIN SELECT RAISE(ABORT, 'broken'); END`,
    );
    const batch = batchOf(
      organization,
      1,
      [1, 2, 3, 4].map((index) => entry({ key: `key_${index}` })),
    );
    assert.throws(() => store.add('one', [batch]), /broken/);
    assert.deepEqual(await allOf(store, { organization }), []);
    other.exec('DROP TRIGGER break');
    await add(store, 'one', batch);
    assert.equal(totalOf(await allOf(store, { organization })), 4);
    other.close();
  });
});
