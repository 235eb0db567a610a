// Units of a failure counter that instances reserve in Redis: they count beside the failures until they are given back, or until the lease
// of an instance that has died ends.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openFailureCounters } from '../../../gateway/limits/addresses/failure-counter.ts';
import { createSharedUnits } from '../../../gateway/limits/addresses/reserved-units.ts';
import { connectRedis, type Redis } from '../../../gateway/redis/client.ts';
import { eventually } from '../../support/instances.ts';
import { startRedis } from '../../support/redis.ts';

const redis = await startRedis();
const client = await connected(redis.url);
after(async () => {
  client.disconnect();
  await redis.stop();
});

function connected(url: string): Promise<Redis> {
  return new Promise((resolve) => {
    const opened = connectRedis({ url, commandTimeoutMs: 1000, onReady: () => resolve(opened) });
  });
}

test('failures and reserved units together fill the limit, over all instances', async (t) => {
  const [one, other] = [createSharedUnits(client), createSharedUnits(client)];
  t.after(one.close);
  t.after(other.close);
  await client.set('failures:a', 1, 'EX', 100);
  const first = await one.reserve('failures:a', 3);
  const second = await other.reserve('failures:a', 3);
  assert.ok(first.giveBack && second.giveBack);
  assert.equal((await one.reserve('failures:a', 3)).giveBack, undefined);
  assert.ok((await one.reserve('failures:b', 3)).giveBack, 'another counter');
  first.giveBack();
  const third = await other.reserve('failures:a', 3);
  assert.ok(third.giveBack);
  await client.incrby('failures:a', 2);
  const refused = await one.reserve('failures:a', 3);
  assert.deepEqual([refused.failures, refused.giveBack], [3, undefined]);
  assert.ok(refused.leftMs > 90_000 && refused.leftMs <= 100_000, String(refused.leftMs));
});

test('a lease is renewed while its instance lives, and ends by itself once it does not', async () => {
  const units = createSharedUnits(client, 600);
  const held = await units.reserve('failures:c', 1);
  assert.ok(held.giveBack);
  const scores = () => client.call('zrange', ['reserved:{failures:c}', '0', '-1', 'WITHSCORES']) as Promise<string[]>;
  const endOf = async () => Number((await scores())[1]);
  const first = await endOf();
  await eventually(async () => (await endOf()) > first + 600);
  const waiting = createSharedUnits(client);
  assert.equal((await waiting.reserve('failures:c', 1)).giveBack, undefined);
  // As if it had died: nothing renews, and nothing is given back.
  units.close();
  await eventually(async () => (await waiting.reserve('failures:c', 1)).giveBack !== undefined);
  waiting.close();
});

test('the reserved unit belongs to the counter of the failures, even with a prefix for the keys', async (t) => {
  const counters = openFailureCounters(`${redis.url}?keyPrefix=some:`);
  t.after(counters.close);
  const counter = counters.counter('login', () => ({ failures: 2, windowSeconds: 60 }));
  // Until it is connected, this process counts.
  await eventually(async () => {
    (await counter.reserve('192.0.2.1')).giveBack?.();
    return (
      (await client.keys('*')).some((key) => key.startsWith('some:')) || (await counter.count('x')).leftMs !== undefined
    );
  });
  await counter.count('192.0.2.2');
  const reserved = await counter.reserve('192.0.2.2');
  assert.ok(reserved.giveBack);
  assert.equal((await counter.reserve('192.0.2.2')).giveBack, undefined);
  assert.deepEqual((await client.keys('*192.0.2.2*')).sort(), [
    'some:failures:login:192.0.2.2',
    'some:reserved:{failures:login:192.0.2.2}',
  ]);
  await counter.count('192.0.2.2');
  const used = await counter.reserve('192.0.2.2');
  assert.ok(used.isUsedUp && used.leftMs !== undefined && used.leftMs > 0);
});

for (const [what, damage] of [
  ['of another type', () => client.set('reserved:{failures:login:192.0.2.3}', 'x')],
  ['a list in place of the counter', () => client.rpush('failures:login:192.0.2.3', 'x')],
] as const) {
  test(`a key that is ${what} leaves the decision to this process`, async (t) => {
    await client.del('reserved:{failures:login:192.0.2.3}', 'failures:login:192.0.2.3');
    await damage();
    const counters = openFailureCounters(redis.url);
    t.after(counters.close);
    const counter = counters.counter('login', () => ({ failures: 2, windowSeconds: 60 }));
    await eventually(async () => (await counter.count('x')).leftMs !== undefined);
    const units = [];
    for (let i = 0; i < 4; i++) units.push((await counter.reserve('192.0.2.3')).giveBack !== undefined);
    assert.deepEqual(units, [true, true, false, false]);
  });
}
