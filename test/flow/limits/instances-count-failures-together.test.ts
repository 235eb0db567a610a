// Failures of a client address are counted by all instances together, so that an attacker gains nothing by spreading attempts over them.
// While Redis is away each instance counts for itself.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { openFailureCounters } from '../../../gateway/limits/addresses/failure-counter.ts';
import { askRedis, type Redis as RedisClient } from '../../../gateway/redis/client.ts';
import { closesAfterAll } from '../../support/closing.ts';
import { type Answer, ask, requestOf } from '../../support/connection.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { eventually, startInstances } from '../../support/instances.ts';
import { startRedis, startRelay } from '../../support/redis.ts';

const FAILURES = 6;

const start = closesAfterAll();
const redis = await start(startRedis());
const relay = await start(startRelay(redis.url));
const instances = await start(
  startInstances([relay.url, relay.url], {
    gateway: { trustedProxies: ['127.0.0.1/32'] },
    limits: { addresses: { failures: FAILURES, windowSeconds: 3600 } },
  }),
);

const asking = <T>(question: (client: RedisClient) => Promise<T>) => askRedis(redis.url, 1000, question);

function failAs(address: string, { port }: TestGateway): Promise<Answer> {
  return ask(port, requestOf('GET /nowhere', { 'X-Forwarded-For': address }));
}

/** Statuses of so many requests, one after the other. */
async function statusesOf(address: string, gateway: TestGateway, times: number): Promise<number[]> {
  const statuses = [];
  for (let count = 0; count < times; count += 1) statuses.push((await failAs(address, gateway)).status);
  return statuses;
}

test('failures on one instance count on the other', async () => {
  const [first, second] = instances.gateways as [TestGateway, TestGateway];
  assert.deepEqual(await statusesOf('192.0.2.1', first, 4), [404, 404, 404, 404]);
  // A count that is on its way would tell the first instance of those that follow.
  await eventually(async () => (await asking((client) => client.get('failures:address:192.0.2.1'))) === '4');
  assert.deepEqual(await statusesOf('192.0.2.1', second, 2), [404, 404]);
  await eventually(async () => (await failAs('192.0.2.1', second)).status === 429);
  // The first instance sees it with the next failure that it counts.
  assert.deepEqual(await statusesOf('192.0.2.1', first, 1), [404]);
  await eventually(async () => (await failAs('192.0.2.1', first)).status === 429);
  const refused = await failAs('192.0.2.1', first);
  const waitSeconds = Number(refused.headers['retry-after']);
  assert.ok(waitSeconds > 3500 && waitSeconds <= 3600, `the rest of the shared window: ${waitSeconds}`);
  assert.equal((await failAs('192.0.2.2', first)).status, 404, 'other addresses go on');
});

test('while Redis is away each instance counts for itself', async () => {
  const [first, second] = instances.gateways as [TestGateway, TestGateway];
  await relay.kill();
  try {
    const statuses = await statusesOf('192.0.2.9', first, FAILURES);
    assert.deepEqual(statuses, Array(FAILURES).fill(404));
    await eventually(async () => (await failAs('192.0.2.9', first)).status === 429);
    assert.deepEqual(await statusesOf('192.0.2.9', second, 1), [404]);
  } finally {
    await relay.restart();
  }
});

test('an instance of an earlier version, which counts with a library, shares the window', async () => {
  const counters = openFailureCounters(redis.url);
  const counter = counters.counter('shared', () => ({ failures: 3, windowSeconds: 60 }));
  await eventually(async () => (await counter.count('192.0.2.1')).leftMs !== undefined);
  await asking(async (client) => {
    const earlier = new RateLimiterRedis({
      storeClient: client,
      points: 3,
      duration: 100,
      keyPrefix: 'failures:shared',
    });
    await earlier.penalty('192.0.2.4');
    const second = await counter.count('192.0.2.4');
    assert.equal(second.isUsedUp, false);
    assert.ok(second.leftMs !== undefined && second.leftMs > 60_000 && second.leftMs <= 100_000, String(second.leftMs));
    assert.equal((await earlier.penalty('192.0.2.4')).consumedPoints, 3);
    assert.equal((await counter.reserve('192.0.2.4')).isUsedUp, true);
    await counter.count('192.0.2.5');
    const { consumedPoints, msBeforeNext } = await earlier.penalty('192.0.2.5');
    assert.equal(consumedPoints, 2);
    assert.ok(msBeforeNext > 50_000 && msBeforeNext <= 60_000, String(msBeforeNext));
  });
  counters.close();
});

test('a flood of failures from one address is counted whole, by few commands', async () => {
  const FLOOD = 500;
  const counters = openFailureCounters(redis.url);
  const counter = counters.counter('flood', () => ({ failures: FLOOD, windowSeconds: 3600 }));
  const commands = () =>
    asking(async (client) => Number(/total_commands_processed:(\d+)/.exec(await client.info('stats'))?.[1]));
  // Until it is connected, failures are counted in this process, and no command is sent.
  await eventually(async () => {
    await counter.count('192.0.2.8');
    return (await asking((client) => client.get('failures:flood:192.0.2.8'))) !== null;
  });
  const before = await commands();
  // In several turns of the event loop, so that some happen while a command is in flight.
  const counts = [];
  for (let count = 0; count < FLOOD; count += 1) {
    counts.push(counter.count('192.0.2.7'));
    if (count % 50 === 0) await new Promise(setImmediate);
  }
  const last = (await Promise.all(counts)).at(-1);
  assert.equal(last?.isUsedUp, true);
  assert.ok(last.leftMs !== undefined && last.leftMs <= 3_600_000);
  assert.equal(await asking((client) => client.get('failures:flood:192.0.2.7')), String(FLOOD));
  // The instances of this file and this question send some of their own.
  assert.ok((await commands()) - before < FLOOD / 5);
  counters.close();
});
