// A master under three Sentinels that is lost or replaced: the policy decides until the new master is found, which then is exact.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectRedis } from '../../gateway/redis/client.ts';
import { evaluate, toScript } from '../../gateway/redis/sealed-script.ts';
import { countOf, limitOf, openStore } from '../flow/limits/outage.ts';
import { eventually } from '../support/instances.ts';
import { startRelay } from '../support/redis.ts';
import { askServer, startWatched } from '../support/redis-topologies.ts';

test('a master that is replaced while it lives is left for the new one', async (t) => {
  const watched = await startWatched();
  t.after(() => watched.stop());
  const outage = await openStore(watched.url);
  t.after(() => outage.store.close());
  await outage.untilUp();
  await watched.failOver();
  await eventually(
    async () => outage.changes.some(({ state }) => state === 'away') && outage.store.status().state === 'up',
  );
  const { verdicts } = await outage.ask(limitOf(10), 20);
  assert.deepEqual([countOf(verdicts, 'admitted'), verdicts[0]?.source], [10, 'redis']);
});

test('a master that is killed is followed by its replica, which has the counts', async (t) => {
  const watched = await startWatched();
  t.after(() => watched.stop());
  const outage = await openStore(watched.url);
  t.after(() => outage.store.close());
  await outage.untilUp();
  outage.policy = 'refuse';
  const charges = limitOf(10);
  await outage.ask(charges, 6);
  const client = connectRedis({ url: watched.url });
  t.after(() => client.disconnect());
  await watched.master.kill();
  assert.equal((await outage.ask(limitOf(1), 1)).verdicts[0]?.source, 'refuse');
  await eventually(async () => outage.store.status().state === 'up');
  assert.equal(countOf((await outage.ask(charges, 20)).verdicts, 'admitted'), 4);
  await eventually(async () => client.status === 'ready');
  assert.equal(await evaluate(client, toScript("return redis.call('INCR', KEYS[1])"), ['{gateway}:probe'], []), 1);
});

test('clients that were about to connect when the Sentinels named the new master connect to it', async (t) => {
  const watched = await startWatched();
  t.after(() => watched.stop());
  // Sentinels that answer late: nearly every client waits for one when the news comes.
  const relays = await Promise.all(watched.sentinelUrls.map(startRelay));
  t.after(() => Promise.all(relays.map((relay) => relay.stop())));
  const url = `redis+sentinel://${relays.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${watched.url.split('/').at(-1)}`;
  const clients = Array.from({ length: 20 }, () => connectRedis({ url }));
  t.after(() => {
    for (const client of clients) client.disconnect();
  });
  await eventually(async () => clients.every(({ status }) => status === 'ready'));
  for (const relay of relays) relay.slowDown(200);
  await watched.master.kill();
  await eventually(async () => String(await askServer(watched.replica.port, 'INFO')).includes('role:master'));
  for (const relay of relays) relay.slowDown(0);
  await eventually(async () => clients.every(({ status }) => status === 'ready'));
});
