// A Redis that takes no writes still answers. Two gateways keep their connections to it, hear each other, and name one cause with one text.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CausesReport } from '../../../gateway/alerts/report.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { askWith, eventually, startInstances, untilRead } from '../../support/instances.ts';
import { lookInside, refuseWrites, SNAPSHOT_SETTINGS, startServer } from '../../support/redis.ts';

/** More than three PINGs of each connection of two gateways. */
const REFUSED_PINGS = 60;

test('a Redis that cannot write to its disk, and then one that is a replica', async (t) => {
  const redis = await startServer(...SNAPSHOT_SETTINGS);
  t.after(() => redis.stop());
  const server = lookInside(redis.url);
  t.after(() => server.disconnect());
  const instances = await startInstances([redis.url, redis.url]);
  t.after(() => instances.close());
  const [one, other] = instances.gateways as [TestGateway, TestGateway];
  const { key } = await one.issueKey({ organization: 'org_a' });
  const { key: unused } = await one.issueKey({ organization: 'org_a' });
  await untilRead(instances);
  const causesOf = async ({ adminUrl }: TestGateway) =>
    ((await (await fetch(`${adminUrl}/causes`)).json()) as CausesReport).causes;
  const connections = async () => [...String(await server.client('LIST')).matchAll(/^id=\d+/gm)].map(String);
  const refusedPings = async () =>
    Number(/cmdstat_ping:.*rejected_calls=(\d+)/.exec(await server.info('commandstats'))?.[1]);

  const takeWrites = await refuseWrites(server);
  const before = await connections();
  for (const gateway of [one, other]) assert.equal((await askWith(key, gateway)).status, 200);
  assert.equal((await askWith(unused, one)).status, 200);
  const told = new Set<string>();
  await eventually(async () => {
    for (const gateway of [one, other])
      for (const { cause, consequence, runbook } of await causesOf(gateway))
        told.add(`${cause} ${consequence} ${runbook}`);
    return (await refusedPings()) >= REFUSED_PINGS;
  });
  assert.deepEqual(
    [...told],
    [
      `Redis 127.0.0.1:${redis.port} cannot write to its disk (MISCONF) and takes no writes. Limits are counted per instance; writes with an Idempotency-Key get 503 gateway_overloaded, except to services that honour keys; all keys still work, but changes of keys and last uses are not stored. This ends by itself when Redis takes writes again. GatewayLimitStoreAway`,
    ],
  );
  const after = await connections();
  assert.deepEqual(
    before.filter((one) => !after.includes(one)),
    [],
  );

  await takeWrites();
  await eventually(async () => (await causesOf(one)).length + (await causesOf(other)).length === 0);
  await server.replicaof('127.0.0.1', '1');
  await askWith(key, one);
  await eventually(async () => {
    const causes = await causesOf(one);
    for (const { cause } of causes) assert.match(cause, /is a replica and takes no writes\.$/);
    return causes.length > 0;
  });
});

test('a replica answers look-ups of keys, and the log names it once', async (t) => {
  const redis = await startServer();
  t.after(() => redis.stop());
  const server = lookInside(redis.url);
  t.after(() => server.disconnect());
  const instances = await startInstances([redis.url]);
  t.after(() => instances.close());
  const [gateway] = instances.gateways as [TestGateway];
  const keys: string[] = [];
  for (let made = 0; made < 100; made += 1) keys.push((await gateway.issueKey({ organization: 'org_a' })).key);
  const refusedWrites = async () => Number(/errorstat_READONLY:count=(\d+)/.exec(await server.info('errorstats'))?.[1]);

  await server.replicaof('127.0.0.1', '1');
  const statuses = new Set<number>();
  for (const key of keys) {
    // This gateway has not looked the key up yet.
    statuses.add((await askWith(key, gateway)).status);
    await sleep(40);
  }
  assert.ok((await refusedWrites()) > 10);
  assert.deepEqual([...statuses], [200]);
  assert.deepEqual(
    gateway.logLines().filter(({ msg }) => /the key store (cannot|can) be read/.test(String(msg))),
    [],
  );
});
