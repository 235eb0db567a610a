// On a Redis Cluster the limits are as exact as on one server, each server gets one command per turn, and the loss of one does not affect
// the limits of the others.

import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import type { Charge } from '../../../gateway/limits/counters/counter-store.ts';
import { connectRedis } from '../../../gateway/redis/client.ts';
import { evaluate, toScript } from '../../../gateway/redis/sealed-script.ts';
import { slotOf } from '../../../gateway/redis/slot.ts';
import { eventually } from '../../support/instances.ts';
import { askServer, startCluster } from '../../support/redis-topologies.ts';
import { countOf, limitOf, type Outage, openStore } from './outage.ts';

const cluster = await startCluster();

after(() => cluster.stop());

async function open(t: TestContext): Promise<Outage> {
  const outage = await openStore(cluster.url, { deadlineMs: 500 });
  t.after(() => outage.store.close());
  await outage.untilUp();
  return outage;
}

/** Which of the three servers a counter lies on: each has a third of the slots, in order. */
const serverOf = ([charge]: readonly Charge[]) => Math.floor((slotOf(charge?.counter ?? '') * 3) / 16_384);

/** A limit with its counter on that server. */
function limitOn(server: number, requests: number): Charge[] {
  for (;;) {
    const charges = limitOf(requests);
    if (serverOf(charges) === server) return charges;
  }
}

async function scriptCallsOf(port: number): Promise<number> {
  const text = String(await askServer(port, 'INFO', 'commandstats'));
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(text)?.[1] ?? 0);
}

test('a slot is found as the servers find it', async () => {
  for (const key of ['rl:{org_1}:organization', 'plain', '{}empty', 'open{', 'é{ü}', '{a}{b}']) {
    assert.equal(slotOf(key), await askServer(cluster.servers[0]?.port ?? 0, 'CLUSTER', 'KEYSLOT', key), key);
  }
});

test('two instances admit exactly the limit of each organization, wherever its counters lie', async (t) => {
  const [one, other] = await Promise.all([open(t), open(t)]);
  for (const charges of [0, 1, 2].map((server) => limitOn(server, 10))) {
    const [some, more] = await Promise.all([one.ask(charges, 20), other.ask(charges, 20)]);
    const verdicts = [...some.verdicts, ...more.verdicts];
    assert.equal(countOf(verdicts, 'admitted'), 10);
    assert.ok(verdicts.every(({ source }) => source === 'redis'));
  }
});

test('the decisions of one turn are one command per server, for any number of organizations', async (t) => {
  const { store } = await open(t);
  const asked = Array.from({ length: 90 }, (_, number) => limitOn(number % 3, 10));
  // Each server gets the script first.
  await Promise.all(asked.map((charges) => store.decide(charges)));
  const before = await Promise.all(cluster.servers.map(({ port }) => scriptCallsOf(port)));
  const verdicts = await Promise.all(asked.map((charges) => store.decide(charges)));
  const calls = await Promise.all(
    cluster.servers.map(async ({ port }, index) => (await scriptCallsOf(port)) - (before[index] ?? 0)),
  );
  assert.deepEqual(calls, [1, 1, 1]);
  assert.ok(verdicts.every(({ states }) => states[0]?.remaining === 8));
});

test('a lost server takes only its own organizations to the policy, and comes back', async (t) => {
  const outage = await open(t);
  const [kept, lost] = [limitOn(0, 10), limitOn(1, 10)];
  await cluster.servers[1]?.kill();
  await eventually(async () => (await outage.store.decide(lost)).source === 'local');
  assert.equal((await outage.store.decide(kept)).source, 'redis');
  assert.equal(outage.store.status().state, 'away');
  assert.match(outage.store.status().reason ?? '', new RegExp(`^127\\.0\\.0\\.1:${cluster.servers[1]?.port}: `));
  await cluster.servers[1]?.restart();
  await eventually(async () => (await outage.store.decide(limitOn(1, 10))).source === 'redis');
});

test('a slot that has moved is found where it lies now', async (t) => {
  const outage = await open(t);
  const moved = limitOn(0, 10);
  const slot = String(slotOf(moved[0]?.counter ?? ''));
  const receiver = String(await askServer(cluster.servers[2]?.port ?? 0, 'CLUSTER', 'MYID'));
  for (const { port } of cluster.servers) await askServer(port, 'CLUSTER', 'SETSLOT', slot, 'NODE', receiver);
  await eventually(async () => (await outage.store.decide(moved)).source === 'redis');
  assert.equal((await outage.store.decide(limitOn(0, 10))).source, 'redis', 'its former server is not away');
});

test('scripts of the other concerns find their server by the key', async (t) => {
  const ready = Promise.withResolvers<void>();
  const client = connectRedis({ url: cluster.url, onReady: ready.resolve });
  t.after(() => client.disconnect());
  await ready.promise;
  const increment = toScript("return redis.call('INCR', KEYS[1])");
  const keys = [0, 1, 2].map((server) => `idem:${limitOn(server, 1)[0]?.counter}`);
  assert.deepEqual(await Promise.all(keys.map((key) => evaluate(client, increment, [key], []))), [1, 1, 1]);
  const heard = Promise.withResolvers<string>();
  client.on('message', (_channel: string, message: string) => heard.resolve(message));
  await client.subscribe('{gateway}:announced');
  await evaluate(client, toScript("return redis.call('PUBLISH', '{gateway}:announced', ARGV[1])"), keys.slice(0, 1), [
    '1',
  ]);
  assert.equal(await heard.promise, '1');
});
