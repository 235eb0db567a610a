// A Redis that answers and yet cannot count: full, read-only, or loading its data. Each is away until it can, and then exact again.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { temporaryDirectory } from '../../support/directory.ts';
import { startServer, type TestRedis } from '../../support/redis.ts';
import { askServer } from '../../support/redis-topologies.ts';
import { countOf, limitOf, type Outage, openStore, WAIT_MAX_MS } from './outage.ts';

async function start(t: TestContext, ...settings: string[]): Promise<{ server: TestRedis; outage: Outage }> {
  const server = await startServer(...settings);
  t.after(() => server.stop());
  // It answers, so that no deadline passes; a late answer would be another reason.
  const outage = await openStore(server.url, { deadlineMs: 5_000 });
  t.after(() => outage.store.close());
  await outage.untilUp();
  return { server, outage };
}

/** No request waits for it, and the outage policy decides. */
async function assertAway({ ask, store }: Outage, reason: RegExp): Promise<void> {
  const { verdicts, longestMs } = await ask(limitOf(10), 20);
  assert.ok(longestMs < WAIT_MAX_MS, `${longestMs} ms`);
  assert.deepEqual([countOf(verdicts, 'admitted'), verdicts[0]?.source], [10, 'local']);
  assert.match(store.status().reason ?? '', reason);
}

async function assertExact({ ask, untilUp }: Outage): Promise<void> {
  await untilUp();
  const { verdicts } = await ask(limitOf(10), 20);
  assert.deepEqual([countOf(verdicts, 'admitted'), verdicts[0]?.source], [10, 'redis']);
}

test('out of memory: away until there is room', async (t) => {
  const { server, outage } = await start(t);
  await askServer(server.port, 'CONFIG', 'SET', 'maxmemory', '1');
  await assertAway(outage, /OOM/);
  await askServer(server.port, 'CONFIG', 'SET', 'maxmemory', '0');
  await assertExact(outage);
});

test('read-only: away until it is a master again', async (t) => {
  const { server, outage } = await start(t);
  await askServer(server.port, 'REPLICAOF', '127.0.0.1', '1');
  await assertAway(outage, /READONLY/);
  await askServer(server.port, 'REPLICAOF', 'NO', 'ONE');
  await assertExact(outage);
});

test('loading: away until all data is loaded, and earlier counts still count', async (t) => {
  const dir = temporaryDirectory();
  // A millisecond for each of the counters that are loaded.
  const slowly = ['--key-load-delay', '1000', '--loading-process-events-interval-bytes', '1024'];
  const { server, outage } = await start(t, '--dir', dir, ...slowly);
  const counted = limitOf(10);
  await Promise.all(Array.from({ length: 600 }, () => outage.store.decide(limitOf(10))));
  await outage.ask(counted, 4);
  await askServer(server.port, 'SAVE');
  await server.kill();
  const loaded = server.restart();
  await assertAway(outage, /./);
  await loaded;
  await outage.untilUp();
  assert.equal(countOf((await outage.ask(counted, 20)).verdicts, 'admitted'), 6);
});

test('restarted without its memory: exact from then on, and the lost window is all that is given out twice', async (t) => {
  const { server, outage } = await start(t);
  const charges = limitOf(10);
  outage.policy = 'refuse';
  const before = countOf((await outage.ask(charges, 20)).verdicts, 'admitted');
  await server.kill();
  await server.restart();
  await outage.untilUp();
  const since = countOf(
    (
      await outage.ask(
        charges.map((charge) => ({ ...charge })),
        20,
      )
    ).verdicts,
    'admitted',
  );
  assert.deepEqual([before, since], [10, 10]);
});
