// A master under three Sentinels is replaced and killed under keyed writes toward a service without keys of its own. With
// `idempotency.replicas` no write runs twice. Without it, 166 of 2,996 did in the same trial on a busy machine.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRedisReplayStore } from '../../gateway/replay/redis-store.ts';
import { claimOf } from '../flow/replay/claim.ts';
import { newAnswerKey } from '../flow/replay/store-suite.ts';
import { askShop, type ShopService, shopAt, startShopService } from '../support/former/shop.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { askServer, startCluster, startWatched, type Watched } from '../support/redis-topologies.ts';

const CLIENTS = 8;

interface Counts {
  /** Writes that got their first answer. */
  written: number;
  replayed: number;
  unknown: number;
  refused: number;
}

/** Writes, and repeats each write a while later, as a client does whose answer was lost. */
function startClients({ port }: TestGateway, key: string) {
  const counts: Counts = { written: 0, replayed: 0, unknown: 0, refused: 0 };
  let isOver = false;

  async function write(name: string): Promise<'written' | 'replayed' | 'unknown'> {
    for (;;) {
      const headers = { 'content-type': 'application/json', 'idempotency-key': name };
      const { status, replayed, error } = await askShop(port, key, 'POST /v1/items', { body: '{}', headers });
      if (status === 201) return replayed ? 'replayed' : 'written';
      if (error.code === 'idempotency_outcome_unknown') return 'unknown';
      assert.ok(error.retryable, `${status} ${error.code}`);
      counts.refused += 1;
      await sleep(20);
    }
  }

  async function client(): Promise<void> {
    while (!isOver) {
      const name = randomUUID();
      counts[await write(name)] += 1;
      void later(name);
      await sleep(10);
    }
  }

  const repeating = new Set<Promise<void>>();
  function later(name: string): void {
    const repeated = sleep(500 + Math.random() * 3000).then(async () => {
      counts[await write(name)] += 1;
    });
    repeating.add(repeated);
    void repeated.finally(() => repeating.delete(repeated));
  }

  const clients = Array.from({ length: CLIENTS }, client);
  return {
    async end(): Promise<Counts> {
      isOver = true;
      await Promise.all(clients);
      while (repeating.size > 0) await Promise.all(repeating);
      return counts;
    },
  };
}

const doubledBy = ({ runs }: ShopService) => [...runs.values()].filter((times) => times > 1).length;

async function isMaster(port: number): Promise<boolean> {
  return String(await askServer(port, 'INFO', 'replication')).includes('role:master');
}

async function untilReplicated({ master, replica }: Watched): Promise<void> {
  for (;;) {
    const infos = await Promise.all(
      [master, replica].map(({ port }) => askServer(port, 'INFO', 'replication').then(String, () => '')),
    );
    if (infos.some((info) => /role:master[\s\S]*state=online/.test(info))) return;
    await sleep(100);
  }
}

async function failOverUnderWrites(t: TestContext): Promise<Counts & { readonly doubled: number }> {
  const watched = await startWatched();
  const service = await startShopService();
  const gateway = await startGateway({
    ...shopAt(service.url, { gateway: { idempotency: { replicas: 1, replicasTimeoutMs: 100 } } }),
    environment: { REDIS_URL: watched.url, CERTIFICATE_KEY: 'x'.repeat(32) },
  });
  t.after(async () => {
    await gateway.stop();
    await Promise.all([service.close(), watched.stop()]);
  });
  const { key } = await gateway.issueKey();
  const clients = startClients(gateway, key);
  for (let failover = 0; failover < 3; failover++) {
    await sleep(2000);
    await watched.failOver();
    await sleep(2000);
    await untilReplicated(watched);
  }
  for (let kill = 0; kill < 2; kill++) {
    await sleep(2000);
    const pair = [watched.master, watched.replica] as const;
    const [victim, heir] = (await isMaster(watched.master.port)) ? pair : pair.toReversed();
    await victim?.kill();
    // A master that comes back empty before the Sentinels have replaced it makes its replica forget everything.
    while (!(await isMaster(heir?.port ?? 0))) await sleep(50);
    await sleep(2000);
    await victim?.restart();
    await untilReplicated(watched);
  }
  await sleep(2000);
  return { ...(await clients.end()), doubled: doubledBy(service) };
}

test('with a replica that has each key, no write runs twice', async (t) => {
  const { doubled, ...counts } = await failOverUnderWrites(t);
  t.diagnostic(JSON.stringify({ doubled, ...counts }));
  assert.equal(doubled, 0, JSON.stringify(counts));
  assert.ok(counts.written > 100 && counts.replayed > 100, JSON.stringify(counts));
});

test('in a Cluster, the replicas of the server that has the key are asked', async (t) => {
  const cluster = await startCluster({ replicas: true });
  t.after(() => cluster.stop());
  const store = await createRedisReplayStore({ url: cluster.url, onChange() {} });
  t.after(() => store.close());
  const claim = claimOf('f', 'me', 5000, { replicaWait: { replicas: 1, replicasTimeoutMs: 500 } });
  for (let i = 0; i < 20; i++) assert.equal((await store.begin(newAnswerKey(), claim)).state, 'started');
  const replica = cluster.servers[3];
  replica?.pause();
  const begun = await Promise.allSettled(Array.from({ length: 20 }, async () => store.begin(newAnswerKey(), claim)));
  replica?.resume();
  const refused = begun.filter(({ status }) => status === 'rejected').length;
  assert.ok(refused > 0 && refused < 20, `${refused} of 20 keys are of the server whose replica stands still`);
});
