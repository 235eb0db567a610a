// A connection to Redis whose replies do not match its commands any more is closed, idle or busy, and the next one is in order.

import assert from 'node:assert/strict';
import { after, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectRedis, type Redis } from '../../../gateway/redis/client.ts';
import { evaluate, toScript } from '../../../gateway/redis/sealed-script.ts';
import { subscribe } from '../../../gateway/redis/subscribe.ts';
import { GARBLINGS, type GarbledRedis, startGarbledRedis } from '../../support/garbled-redis.ts';
import { eventually } from '../../support/instances.ts';
import { startServer } from '../../support/redis.ts';
import { askServer, startCluster } from '../../support/redis-topologies.ts';

const ECHO = toScript('return ARGV[1]');

const redis = await startServer();

after(() => redis.stop());

async function throughGarbling(t: TestContext, port = redis.port): Promise<GarbledRedis> {
  const garbled = await startGarbledRedis(port);
  t.after(garbled.stop);
  return garbled;
}

async function connected(t: TestContext, url: string): Promise<Redis> {
  const ready = Promise.withResolvers<void>();
  const client = connectRedis({ url, onReady: ready.resolve });
  t.after(() => client.disconnect());
  await ready.promise;
  return client;
}

/** Several questions at any time, so that a reply is always awaited. Gives the counts of replies since they were given before. */
function askAllTheTime(t: TestContext, client: Redis, keys: readonly string[]): () => { right: number; wrong: number } {
  let counts = { right: 0, wrong: 0 };
  let ends = false;
  t.after(() => {
    ends = true;
  });
  async function askOn(asker: number): Promise<void> {
    for (let number = 0; !ends; number += 1) {
      const question = `${asker}:${number}`;
      try {
        const reply = await evaluate(client, ECHO, [keys[number % keys.length] ?? ''], [question]);
        counts[reply === question ? 'right' : 'wrong'] += 1;
      } catch {
        await sleep(5);
      }
      await sleep(1);
    }
  }
  for (let asker = 0; asker < 8; asker += 1) void askOn(asker);
  return () => {
    const told = counts;
    counts = { right: 0, wrong: 0 };
    return told;
  };
}

describe('a garbled connection', { concurrency: true }, () => {
  for (const how of GARBLINGS) {
    test(`${how}: an idle connection is closed, and the client answers again`, async (t) => {
      const garbled = await throughGarbling(t);
      const client = await connected(t, garbled.url);
      await garbled.garble(how);
      await eventually(async () => client.status === 'ready');
      assert.equal(await evaluate(client, ECHO, ['key'], ['a question']), 'a question');
    });

    test(`${how}: a busy connection is closed, and from then on each answer is right`, async (t) => {
      const garbled = await throughGarbling(t);
      const counts = askAllTheTime(t, await connected(t, garbled.url), ['key']);
      await eventually(async () => counts().right > 10);
      await garbled.garble(how);
      counts();
      await eventually(async () => counts().right > 10);
      assert.equal(counts().wrong, 0);
    });

    test(`${how}: a connection that only listens is closed, and announcements arrive again`, async (t) => {
      const garbled = await throughGarbling(t);
      const channel = `changes ${how}`;
      let heard = 0;
      const hear = () => {
        heard += 1;
      };
      t.after(subscribe({ url: garbled.url, channels: () => [channel], onMessage: hear, onSubscribed: hear }));
      await eventually(async () => heard === 1);
      await garbled.garble(how);
      await eventually(async () => heard === 2);
      await askServer(redis.port, 'PUBLISH', channel, '1');
      await eventually(async () => heard === 3);
    });
  }
});

test('each connection to a server of a Cluster is watched, and the connection for subscriptions, too', async (t) => {
  const cluster = await startCluster();
  t.after(() => cluster.stop());
  const ways = await Promise.all(cluster.servers.map(({ port }) => throughGarbling(t, port)));
  for (const [index, { port }] of cluster.servers.entries()) {
    // They spread the news within half of the time for which they may be silent.
    const settings = { 'cluster-announce-port': ways[index]?.port, 'cluster-node-timeout': 1000 };
    await askServer(port, 'CONFIG', 'SET', ...Object.entries(settings).flat().map(String));
  }
  for (const { port } of cluster.servers) {
    await eventually(async () => {
      const map = JSON.stringify(await askServer(port, 'CLUSTER', 'SLOTS'));
      return ways.every((way) => map.includes(String(way.port)));
    });
  }
  const url = `redis+cluster://127.0.0.1:${ways[0]?.port}`;
  const counts = askAllTheTime(t, await connected(t, url), ['a', 'b', 'c', 'd', 'e', 'f']);
  let heard = 0;
  const hear = () => {
    heard += 1;
  };
  t.after(subscribe({ url, channels: () => ['changes'], onMessage: hear, onSubscribed: hear }));
  await eventually(async () => heard > 0 && counts().right > 10);
  await Promise.all(ways.map((way) => way.garble('lost')));
  counts();
  await eventually(async () => counts().right > 10);
  assert.equal(counts().wrong, 0);
  await eventually(async () => {
    const before = heard;
    await askServer(cluster.servers[0]?.port ?? 0, 'PUBLISH', 'changes', '1');
    await sleep(20);
    return heard > before;
  });
});
