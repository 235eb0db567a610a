// A client of a Redis Cluster that reports ready answers: the first command, many commands at once, and while a listed server is dead.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openRedisStore } from '../../../gateway/auth/store/redis/redis-key-store.ts';
import { createSecretsInRedis } from '../../../gateway/config/secrets/secrets-redis.ts';
import { askRedis, type Redis } from '../../../gateway/redis/client.ts';
import { evaluate, toScript } from '../../../gateway/redis/sealed-script.ts';
import { startCluster } from '../../support/redis-topologies.ts';
import { LIMIT_RUNS } from '../../unit/limits/scenarios.ts';

const STARTS = LIMIT_RUNS > 1 ? 4 * LIMIT_RUNS : 2;
const INCREMENT = toScript("return redis.call('INCR', KEYS[1])");

const cluster = await startCluster({ replicas: true });

after(() => cluster.stop());

/** Keys on all masters, read at once. */
async function askAll(client: Redis): Promise<void> {
  const keys = Array.from({ length: 30 }, (_, number) => `{${number}}:asked`);
  await Promise.all(keys.map((key) => evaluate(client, INCREMENT, [key], [])));
}

/** Every command of a start, without any retry. */
async function start(url: string): Promise<void> {
  const secrets = createSecretsInRedis({ url, patienceMs: 0 });
  await secrets.make('cursor_secret', 'a value');
  const store = await openRedisStore({ url, pepperFingerprint: 'of a pepper', now: Date.now });
  try {
    await store.audit.since(0, 10);
  } finally {
    store.close();
  }
}

async function failuresOf(work: () => Promise<void>): Promise<string[]> {
  const failures: string[] = [];
  for (let number = 0; number < STARTS; number += 1) {
    await work().catch((error: Error) => failures.push(error.message));
  }
  return failures;
}

const addressesOf = (...ports: readonly (number | undefined)[]) =>
  `redis+cluster://${ports.map((port) => `127.0.0.1:${port}`).join(',')}`;

for (const [seeds, count] of [
  ['one master', 1],
  ['the masters', 3],
  ['all six servers', 6],
] as const) {
  test(`${seeds} as seeds: each start succeeds`, async () => {
    const url = addressesOf(...cluster.servers.slice(0, count).map(({ port }) => port));
    assert.deepEqual(await failuresOf(() => start(url)), []);
    assert.deepEqual(await failuresOf(() => askRedis(url, 1000, askAll)), []);
  });
}

test('a replica as the only seed: each start succeeds', async () => {
  const url = addressesOf(cluster.servers[4]?.port);
  assert.deepEqual(await failuresOf(() => start(url)), []);
});

test('a seed that cannot be resolved does not stand in the way of the others', async () => {
  const url = `redis+cluster://gone.invalid:6379,127.0.0.1:${cluster.servers[0]?.port}`;
  assert.deepEqual(await failuresOf(() => start(url)), []);
});

test('a dead seed of three: each start succeeds', async () => {
  // Before all servers know the new master, they send the callers of its slots to the dead one, or refuse them.
  await cluster.failOver(1);
  assert.deepEqual(await failuresOf(() => start(cluster.url)), []);
  assert.deepEqual(await failuresOf(() => askRedis(cluster.url, 1000, askAll)), []);
});
