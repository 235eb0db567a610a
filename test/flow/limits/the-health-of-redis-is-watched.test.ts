// The state of Redis as a store sees it: when it is away, why, by which outage policy it decides meanwhile, and that it is back.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { RedisCounterStoreOptions } from '../../../gateway/limits/counters/redis/redis-counter-store.ts';
import { startRedis, startRelay } from '../../support/redis.ts';
import { limitOf, type Outage, openStore } from './outage.ts';

const redis = await startRedis();

after(() => redis.stop());

async function open(t: TestContext, url = redis.url, options: Partial<RedisCounterStoreOptions> = {}): Promise<Outage> {
  const outage = await openStore(url, options);
  t.after(() => {
    redis.resume();
    return outage.store.close();
  });
  return outage;
}

test('the status shows state, reason and the outage policy in force, which can change during an outage', async (t) => {
  const outage = await open(t);
  const { store } = outage;
  // On a busy machine its first answer may come later than the deadline.
  await outage.untilUp();
  const openedAt = outage.changes.length - 1;
  assert.deepEqual([store.status().state, store.status().policyInForce], ['up', undefined]);
  redis.pause();
  await outage.ask(limitOf(1), 1);
  assert.deepEqual([store.status().state, store.status().policyInForce], ['away', 'local']);
  outage.policy = 'allow';
  assert.equal(store.status().policyInForce, 'allow');
  redis.resume();
  await outage.untilUp();
  const changes = outage.changes.slice(openedAt);
  assert.deepEqual(
    changes.map(({ state }) => state),
    ['up', 'away', 'up'],
  );
  assert.match(changes[1]?.reason ?? '', /no answer within 90 ms/);
  assert.equal(changes[2]?.reason, undefined);
});

test('a Redis that answers but cannot be written to is away', async (t) => {
  const admin = new Redis(redis.url);
  t.after(() => admin.disconnect());
  const user = `writer_${randomUUID()}`;
  await admin.call('ACL', ['SETUSER', user, 'on', '>secret', '~*', '+@all']);
  const url = Object.assign(new URL(redis.url), { username: user, password: 'secret' }).href;
  const { store, ask, untilUp } = await open(t, url);
  await admin.call('ACL', ['SETUSER', user, '-@write']);
  assert.equal((await ask(limitOf(1), 1)).verdicts[0]?.source, 'local');
  await sleep(300);
  assert.equal(store.status().state, 'away');
  await admin.call('ACL', ['SETUSER', user, '+@write']);
  await untilUp();
  await admin.call('ACL', ['DELUSER', user]);
});

test('a store that is never allowed to write opens nevertheless, and gives the reason why it is away', async (t) => {
  const admin = new Redis(redis.url);
  t.after(() => admin.disconnect());
  const user = `reader_${randomUUID()}`;
  await admin.call('ACL', ['SETUSER', user, 'on', '>secret', '~*', '+@all', '-@write']);
  const url = Object.assign(new URL(redis.url), { username: user, password: 'secret' }).href;
  const { store, changes } = await open(t, url);
  assert.equal(store.status().state, 'away');
  assert.match(changes[0]?.reason ?? '', /can't run this command|permission/);
  await admin.call('ACL', ['DELUSER', user]);
});

test('a gateway that starts without Redis reports that, decides by the outage policy and finds it later', async (t) => {
  await redis.kill();
  const { store, changes, ask, untilUp } = await open(t);
  assert.deepEqual([store.status().state, changes.length], ['away', 1]);
  assert.match(changes[0]?.reason ?? '', /ECONNREFUSED/);
  assert.equal((await ask(limitOf(1), 1)).verdicts[0]?.source, 'local');
  await redis.restart();
  await untilUp();
});

test('Sentinels and Clusters that cannot be reached do not hold up the start either', async (t) => {
  for (const url of ['redis+sentinel://127.0.0.1:1,127.0.0.1:1/counters', 'redis+cluster://127.0.0.1:1,127.0.0.1:1']) {
    const { store, changes, ask } = await open(t, url);
    assert.deepEqual([store.status().state, changes.length], ['away', 1]);
    assert.match(changes[0]?.reason ?? '', /unreachable|ECONNREFUSED|Failed to refresh/);
    assert.equal((await ask(limitOf(1), 1)).verdicts[0]?.source, 'local');
  }
});

test('two stores in one process fail and recover on their own', async (t) => {
  const relay = await startRelay(redis.url);
  t.after(() => relay.stop());
  const one = await open(t, redis.url, { deadlineMs: 5_000 });
  const other = await open(t, relay.url, { deadlineMs: 5_000 });
  await relay.kill();
  assert.equal((await other.ask(limitOf(1), 1)).verdicts[0]?.source, 'local');
  assert.equal((await one.ask(limitOf(1), 1)).verdicts[0]?.source, 'redis');
});

test('closing answers the waiting requests', async (t) => {
  const { store } = await open(t);
  redis.pause();
  const waiting = store.decide(limitOf(1));
  await new Promise(setImmediate);
  await store.close();
  assert.equal((await waiting).source, 'local');
});
