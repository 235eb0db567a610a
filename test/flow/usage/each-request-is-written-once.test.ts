// What was counted is written once, whatever becomes of the store meanwhile: lost replies, restarts, outages, other writers.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRedisUsageStore } from '../../../gateway/usage/redis-store.ts';
import { usagePage } from '../../../gateway/usage/report.ts';
import { createSqliteUsageStore } from '../../../gateway/usage/sqlite-store.ts';
import type { UsageStore } from '../../../gateway/usage/store.ts';
import { openUsage } from '../../../gateway/usage/usage.ts';
import { UsageWriter, type WriterOptions, type WriterStatus } from '../../../gateway/usage/writer.ts';
import { createRandom } from '../../chaos/random.ts';
import { closesAfterEach } from '../../support/closing.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { startGarbledRedis } from '../../support/garbled-redis.ts';

import { lookInside, startRelay, startServer } from '../../support/redis.ts';
import { askServer } from '../../support/redis-topologies.ts';
import { callerOf, ended, operationOf } from '../../unit/usage/samples.ts';

const start = closesAfterEach();
const keepDays = () => 400;
const now = Date.now;
const list = operationOf('listThings');

const sqliteIn = (directory: string) => createSqliteUsageStore({ directory, keepDays, now });
const redisAt = (url: string) => createRedisUsageStore({ url, keepDays, now });

async function totalOf(store: UsageStore, organization: string): Promise<number> {
  const question = { organization, unit: 'month', fromMs: now() - 1e9, toMs: now(), groups: [], limit: 100 } as const;
  const { sums } = await usagePage(question, { store, keepDays: 400, nowMs: now() });
  return sums.reduce((sum, { requests }) => sum + requests, 0);
}

function writerOn(open: WriterOptions['open'], more: Partial<WriterOptions> = {}) {
  const states: WriterStatus['state'][] = [];
  const writer = new UsageWriter({ open, now, onChange: ({ state }) => states.push(state), ...more });
  const count = (requests: number, organization = 'org_a', key = 'key_1') => {
    const caller = callerOf(key, organization);
    for (let index = 0; index < requests; index += 1) writer.count(ended(caller, list, 200));
  };
  return Object.assign(writer, { states, countRequests: count });
}

/** Until nothing waits. */
async function settle(writer: UsageWriter): Promise<void> {
  const endsAt = performance.now() + 20_000;
  do {
    await writer.flush();
    if (performance.now() > endsAt) throw new Error(`still ${JSON.stringify(writer.status())}`);
    await sleep(20);
  } while (writer.status().waiting > 0 || writer.status().state === 'away');
}

describe('requests', () => {
  it('are written once although the replies of Redis are lost', async () => {
    const redis = await start(startServer());
    const way = await start(startGarbledRedis(redis.port));
    const writer = await start(writerOn(() => redisAt(way.url)));
    const store = await start(redisAt(redis.url));
    // The server knows the script from now on.
    writer.countRequests(1);
    await writer.flush();
    for (const round of [1, 2, 3]) {
      writer.countRequests(100, 'org_a');
      writer.countRequests(10, 'org_b', `key_${round}`);
      way.spoil(() => Buffer.alloc(0));
      await writer.flush();
      assert.deepEqual([writer.status().state, writer.status().waiting], ['away', 2]);
      assert.equal(await totalOf(store, 'org_a'), 1 + 100 * round, 'the script has run');
      way.spoil(undefined);
      await settle(writer);
    }
    assert.equal(await totalOf(store, 'org_a'), 301);
    assert.equal(await totalOf(store, 'org_b'), 30);
  });

  it('are written once although replies are damaged', async () => {
    const redis = await start(startServer());
    const way = await start(startGarbledRedis(redis.port));
    const writer = await start(writerOn(() => redisAt(way.url)));
    for (let round = 0; round < 20; round += 1) {
      writer.countRequests(7);
      if (round === 3) way.flipEvery(2);
      if (round === 15) way.flipEvery(0);
      await writer.flush();
    }
    await settle(writer);
    assert.equal(await totalOf(await start(redisAt(redis.url)), 'org_a'), 140);
  });

  it('are written once although connections break in the middle of flushes', async () => {
    const redis = await start(startServer());
    const way = await start(startRelay(redis.url));
    const random = createRandom(Number(process.env.USAGE_SEED ?? 3));
    const writer = await start(writerOn(() => redisAt(way.url)));
    let counted = 0;
    for (let round = 0; round < 12; round += 1) {
      for (let index = 0; index < 60; index += 1) writer.countRequests(1, `org_${index}`, `key_${round}`);
      counted += 60;
      way.slowDown(random.between(0, 8));
      const flushing = writer.flush();
      await sleep(random.between(0, 20));
      await way.kill();
      await flushing;
      await way.restart();
      await sleep(random.between(0, 120));
    }
    way.slowDown(0);
    await settle(writer);
    const store = await start(redisAt(redis.url));
    let written = 0;
    for (let index = 0; index < 60; index += 1) written += await totalOf(store, `org_${index}`);
    assert.equal(written, counted);
  });

  it('wait while Redis is away, in bounded memory, and say what detail is lost', async () => {
    const redis = await start(startServer());
    const way = await start(startRelay(redis.url));
    const writer = await start(writerOn(() => redisAt(way.url), { pairsMax: 100 }));
    writer.countRequests(1);
    await writer.flush();
    await way.kill();
    await sleep(50);
    for (let index = 0; index < 5000; index += 1) {
      writer.countRequests(1, `org_${index % 3}`, `key_${index}`);
      if (index % 500 === 0) await writer.flush();
    }
    const { state, waiting, folded, lost } = writer.status();
    assert.equal(state, 'away');
    assert.ok(waiting <= 210, `${waiting} entries`);
    assert.ok(folded >= 4700, `${folded} folded`);
    assert.equal(lost, 0);
    await way.restart();
    await settle(writer);
    assert.deepEqual(writer.states, ['away', 'up']);
    const store = await start(redisAt(redis.url));
    const totals = await Promise.all([0, 1, 2].map((index) => totalOf(store, `org_${index}`)));
    assert.deepEqual(totals, [1667, 1667, 1666]);
  });

  it('outlive a Redis that was away from the start, and a full one', async () => {
    const redis = await start(startServer('--maxmemory', '1', '--maxmemory-policy', 'noeviction'));
    const writer = await start(writerOn(() => redisAt(redis.url)));
    writer.countRequests(5);
    await writer.flush();
    assert.equal(writer.status().state, 'away');
    await redis.kill();
    writer.countRequests(5);
    await writer.flush();
    const later = await start(startServer());
    const moved = await start(startRelay(later.url));
    const second = await start(writerOn(() => redisAt(moved.url)));
    await moved.kill();
    second.countRequests(9);
    await second.flush();
    assert.equal(second.status().state, 'away');
    await moved.restart();
    await settle(second);
    assert.equal(await totalOf(await start(redisAt(later.url)), 'org_a'), 9);
  });

  it('are all in an answer of their instance, or there is no answer', async () => {
    const redis = await start(startServer());
    const usage = await start(openUsage({ redisUrl: redis.url, dataDirectory: '', keepDays, now, onChange() {} }));
    const caller = callerOf('key_1', 'org_a');
    const question = { organization: 'org_a', unit: 'day', fromMs: now(), toMs: now(), groups: [], limit: 1 } as const;
    async function told(requests: number) {
      for (let index = 0; index < requests; index += 1) usage.count(ended(caller, list, 200));
      const { sums } = await usage.page({ ...question, toMs: now() + 1 });
      return sums[0]?.requests;
    }
    assert.equal(await told(5), 5);
    await askServer(redis.port, 'CONFIG', 'SET', 'maxmemory', '1');
    await assert.rejects(told(3), /does not accept/);
    await assert.rejects(told(2), /does not accept/);
    await askServer(redis.port, 'CONFIG', 'SET', 'maxmemory', '0');
    assert.equal(await told(1), 11);
  });

  it('of one organization that cannot be written delay no other organization', async () => {
    const redis = await start(startServer());
    const store = await start(redisAt(redis.url));
    const writer = await start(writerOn(() => redisAt(redis.url)));
    writer.countRequests(1, 'org_broken');
    await writer.flush();
    const inside = lookInside(redis.url);
    for (const hash of await inside.keys('usage:{org_broken}:*')) await inside.set(hash, 'damaged');
    inside.disconnect();
    for (let round = 0; round < 4; round += 1) {
      for (const organization of ['org_a', 'org_broken', 'org_b']) writer.countRequests(2, organization);
      await writer.flush();
    }
    assert.deepEqual([await totalOf(store, 'org_a'), await totalOf(store, 'org_b')], [8, 8]);
    assert.equal(writer.status().state, 'away');
    assert.equal(writer.status().waiting, 4);
  });

  it('wait while another process writes to the file, and several processes add up', async () => {
    const directory = temporaryDirectory();
    const [one, other] = [writerOn(() => sqliteIn(directory)), writerOn(() => sqliteIn(directory))];
    one.countRequests(1);
    await one.flush();
    const lock = new DatabaseSync(join(directory, 'usage.sqlite'));
    lock.exec('BEGIN IMMEDIATE');
    one.countRequests(10);
    other.countRequests(20);
    await Promise.all([one.flush(), other.flush()]);
    assert.equal(one.status().state, 'away');
    lock.exec('ROLLBACK');
    lock.close();
    await Promise.all([settle(one), settle(other)]);
    await Promise.all([one.close(), other.close()]);
    const store = await start(sqliteIn(directory));
    assert.equal(await totalOf(store, 'org_a'), 31);
    assert.deepEqual(await store.marks(), [], 'none that has ended holds up completeness');
  });

  it('are written while more are counted than fit into memory', async () => {
    const directory = temporaryDirectory();
    const writer = writerOn(() => sqliteIn(directory), { pairsMax: 200 });
    for (let index = 0; index < 10_000; index += 1) {
      writer.countRequests(1, 'org_a', `key_${index}`);
      if (index % 100 === 0) await sleep(1);
    }
    await writer.close();
    assert.deepEqual([writer.status().lost, writer.status().waiting], [0, 0]);
    assert.equal(await totalOf(await start(sqliteIn(directory)), 'org_a'), 10_000);
  });

  it('are written at the end, and none delays it for long', async () => {
    const redis = await startServer();
    const writer = writerOn(() => redisAt(redis.url));
    writer.countRequests(3);
    await writer.flush();
    writer.countRequests(3);
    redis.pause();
    const beganAt = performance.now();
    await writer.close();
    assert.ok(performance.now() - beganAt < 5000);
    assert.equal(writer.status().waiting, 1);
    redis.resume();
    await redis.stop();
  });
});
