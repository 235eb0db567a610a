// `idempotency.replicas`: a write is sent once so many replicas of Redis have its key. Without them it is refused, and nothing was sent.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it, test } from 'node:test';
import { environmentOf, writeConfiguration } from '../../support/configuration.ts';
import type { Answer } from '../../support/connection.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { runInProcess, tryStartInProcess } from '../../support/in-process.ts';
import { eventually } from '../../support/instances.ts';
import { lookInside, startServer, type TestRedis } from '../../support/redis.ts';
import { askServer } from '../../support/redis-topologies.ts';
import { thingsAt } from '../../support/things.ts';
import { created, createKeyedWorld, type KeyedWorld } from './keyed.ts';

describe('a gateway whose keys have to be on a replica', () => {
  let master: TestRedis;
  let replica: TestRedis;
  let world: KeyedWorld;

  before(async () => {
    master = await startServer('--repl-diskless-sync-delay', '0');
    replica = await startServer('--replicaof', '127.0.0.1', `${master.port}`);
    await eventually(async () => String(await askServer(replica.port, 'INFO')).includes('master_link_status:up'));
    world = await createKeyedWorld({
      gateway: { idempotency: { replicas: 1, replicasTimeoutMs: 500 } },
      environment: { REDIS_URL: master.url },
    });
  });
  after(async () => {
    await world.close();
    await Promise.all([master.stop(), replica.stop()]);
  });
  beforeEach(() => world.upstream.plays((socket) => socket.write(created())));

  it('sends a write once the replica has its key', async () => {
    const client = lookInside(replica.url);
    const owners: (string | null)[] = [];
    world.upstream.plays(async (socket) => {
      for (const name of await client.keys('idem:*:live:*')) owners.push(await client.hget(name, 'owner'));
      socket.write(created());
    });
    let answer: Answer | undefined;
    // On a busy machine the replica may come too late; then nothing was sent.
    await eventually(async () => {
      answer = await world.post();
      return answer.status === 201;
    });
    client.disconnect();
    assert.ok(owners.includes(answer?.headers['x-request-id'] ?? ''), `${owners}`);
  });

  it('refuses a write while the replica stands still, sends nothing, and frees the key', async () => {
    const before = world.upstream.received.length;
    const key = randomUUID();
    replica.pause();
    const refused = await world.post({ key });
    assert.deepEqual([refused.status, refused.error.code, refused.error.retryable], [503, 'gateway_overloaded', true]);
    const again = await world.post({ key: randomUUID() });
    assert.equal(again.status, 503, 'the store is away by now');
    const status = (await (await fetch(`${world.gateway.adminUrl}/status`)).json()) as {
      idempotency: { state: string; reason?: string };
    };
    const { state, reason } = status.idempotency;
    assert.deepEqual([state, reason], ['away', '0 of 1 replicas have the claim in time']);
    assert.equal(world.upstream.received.length, before);
    const read = await world.call('GET /v1/things');
    assert.equal(read.status, 201, 'requests without a key need no replica');
    replica.resume();
    await eventually(async () => (await world.post({ key })).status === 201);
    assert.equal(world.upstream.received.filter((request) => request.includes(key)).length, 1);
  });

  it('lets writes that come together wait together', async () => {
    const before = await waitsOn(master);
    const answers = await Promise.all(Array.from({ length: 60 }, () => world.post()));
    const statuses = new Set(answers.map(({ status }) => status));
    assert.ok(
      [...statuses].every((status) => status === 201 || status === 503),
      `${[...statuses]}`,
    );
    const waits = (await waitsOn(master)) - before;
    assert.ok(waits >= 1 && waits < 40, `${waits} calls of WAIT for 60 writes`);
  });
});

async function waitsOn({ port }: TestRedis): Promise<number> {
  const [, calls] = /cmdstat_wait:calls=(\d+)/.exec(String(await askServer(port, 'INFO', 'commandstats'))) ?? [];
  return Number(calls ?? 0);
}

test('replicas without a Redis are a mistake, for check and start', async () => {
  const directory = temporaryDirectory();
  writeConfiguration(directory, { ...thingsAt('http://127.0.0.1:9'), gateway: { idempotency: { replicas: 1 } } });
  const environment = {
    ...environmentOf(directory),
    GATEWAY_DATA: join(directory, 'data'),
    ...{ PORT: '0', ADMIN_PORT: '0' },
  };
  const says =
    /gateway\.yaml:\d+:\d+: idempotency\.replicas: .* there is no Redis\. Set REDIS_URL, or remove this setting\./;
  for (const { code, stderr } of [
    await runInProcess(['check'], { environment }),
    await tryStartInProcess(environment),
  ]) {
    assert.equal(code, 1);
    assert.match(stderr, says);
  }
});
