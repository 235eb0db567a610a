// While Redis is away or slow the configured policy decides: the requests of the first moment wait a tenth of a second at
// most, later ones not at all, and once it is back its counters hold again without a restart.

import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisCounterStoreOptions } from '../../../gateway/limits/counters/redis/redis-counter-store.ts';
import { startRedis, startRelay } from '../../support/redis.ts';
import { askUntilRedisDecides, countOf, limitOf, type Outage, openStore, WAIT_MAX_MS } from './outage.ts';

const redis = await startRedis();

after(() => redis.stop());

async function open(t: TestContext, options: Partial<RedisCounterStoreOptions> = {}): Promise<Outage> {
  const outage = await openStore(redis.url, options);
  t.after(() => {
    redis.resume();
    return outage.store.close();
  });
  return outage;
}

test('frozen: requests wait at most a tenth of a second, later requests do not wait, and Redis comes back', async (t) => {
  const outage = await open(t);
  const { store, ask } = outage;
  const { charges } = await askUntilRedisDecides(outage, 10, 4);
  redis.pause();
  const { verdicts, longestMs } = await ask(charges, 20);
  assert.ok(longestMs < WAIT_MAX_MS, `${longestMs} ms`);
  assert.deepEqual([countOf(verdicts, 'admitted'), countOf(verdicts, 'refused')], [10, 10]);
  assert.equal(verdicts[0]?.source, 'local');
  assert.ok(!(store.decide(charges) instanceof Promise), 'no request waits any more');
  redis.resume();
  assert.equal(countOf((await askUntilRedisDecides(outage, 10, 20)).verdicts, 'admitted'), 10);
});

test('killed: this process counts, and afterwards Redis is exact again', async (t) => {
  const outage = await open(t);
  await redis.kill();
  const { verdicts, longestMs } = await outage.ask(limitOf(10), 20);
  assert.ok(longestMs < WAIT_MAX_MS, `${longestMs} ms`);
  assert.equal(countOf(verdicts, 'admitted'), 10);
  await redis.restart();
  assert.equal(countOf((await askUntilRedisDecides(outage, 10, 30)).verdicts, 'admitted'), 10);
});

test('slow: a Redis that answers after half a second is away until it is faster', async (t) => {
  const relay = await startRelay(redis.url);
  t.after(() => relay.stop());
  const { store, ask, untilUp } = await openStore(relay.url);
  t.after(() => store.close());
  relay.slowDown(500);
  const { verdicts, longestMs } = await ask(limitOf(1), 5);
  assert.ok(longestMs < WAIT_MAX_MS, `${longestMs} ms`);
  assert.equal(verdicts[0]?.source, 'local');
  await sleep(700);
  assert.equal(store.status().state, 'away');
  relay.slowDown(0);
  await untilUp();
});

test('a call keeps its own deadline, however long ago the calls before it began', async (t) => {
  const relay = await startRelay(redis.url);
  t.after(() => relay.stop());
  const { store, ask } = await openStore(relay.url, { deadlineMs: 1500 });
  t.after(() => store.close());
  relay.slowDown(400);
  // The deadline of the first call passes while the fourth waits.
  const sources: unknown[] = [];
  for (let call = 0; call < 5; call += 1) sources.push((await ask(limitOf(1), 1)).verdicts[0]?.source);
  assert.deepEqual(sources, Array(5).fill('redis'));
});

test('with several instances, local gives each its share, and more when fewer are left', async (t) => {
  let instances = 4;
  const { ask } = await open(t, { instances: () => instances });
  redis.pause();
  await ask(limitOf(1), 1);
  const charges = limitOf(10);
  const { verdicts } = await ask(charges, 20);
  assert.equal(countOf(verdicts, 'admitted'), 2);
  assert.equal(verdicts[0]?.states[0]?.limit, 2);
  instances = 2;
  assert.equal(countOf((await ask(charges, 20)).verdicts, 'admitted'), 3);
});

test('allow admits every request and sends no figures', async (t) => {
  const outage = await open(t);
  outage.policy = 'allow';
  redis.pause();
  const { verdicts } = await outage.ask(limitOf(1), 20);
  assert.equal(countOf(verdicts, 'admitted'), 20);
  assert.deepEqual([verdicts[0]?.states, verdicts[0]?.source], [[], 'allow']);
});

test('refuse admits no request', async (t) => {
  const outage = await open(t);
  outage.policy = 'refuse';
  redis.pause();
  const { verdicts } = await outage.ask(limitOf(1), 20);
  assert.equal(countOf(verdicts, 'undecided'), 20);
  assert.equal(verdicts[0]?.source, 'refuse');
});
