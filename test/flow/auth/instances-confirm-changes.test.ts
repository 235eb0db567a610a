// Each running gateway reports to the store which changes are in force. Commands that end a key rely on that report.

import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { afterEach, beforeEach, test } from 'node:test';
import type { TestGateway } from '../../support/gateway.ts';
import {
  askWith,
  eventually,
  type Instances,
  keysStatusOf,
  startInstances,
  untilRead,
} from '../../support/instances.ts';
import { apartAt, type Relay, startRedis, startRelay, type TestRedis } from '../../support/redis.ts';
import { LIMIT_RUNS } from '../../unit/limits/scenarios.ts';

const TRIALS = LIMIT_RUNS > 1 ? 20 : 6;

let redis: TestRedis;
let relay: Relay;
let instances: Instances;
let direct: TestGateway;
let behindRelay: TestGateway;

beforeEach(async () => {
  redis = await startRedis();
  const url = apartAt(redis.url);
  relay = await startRelay(url);
  instances = await startInstances([url, relay.url]);
  [direct, behindRelay] = instances.gateways as [TestGateway, TestGateway];
});
afterEach(async () => {
  await instances.close();
  await relay.stop();
  await redis.stop();
});

const listed = () => direct.store.instances.list();
const idOf = async (gateway: TestGateway) => (await keysStatusOf(gateway)).instance;

async function reportOf(gateway: TestGateway) {
  const id = await idOf(gateway);
  return (await listed()).find((instance) => instance.id === id);
}

/** Resolves with the sequence number of the latest change when that many gateways have confirmed it. */
async function confirmedBy(count: number): Promise<number> {
  const { latest } = await direct.store.audit.since(0, 1);
  const confirming = async () => (await listed()).filter(({ position }) => position >= latest);
  await eventually(async () => (await confirming()).length === count);
  return latest;
}

test('running gateways are listed with where they run, by the id that their status shows', async () => {
  await confirmedBy(2);
  const ids = await Promise.all(instances.gateways.map(idOf));
  assert.deepEqual((await listed()).map(({ id }) => id).toSorted(), ids.toSorted());
  for (const { host, pid, startedAtMs } of await listed()) {
    assert.deepEqual([host, pid], [hostname(), process.pid]);
    assert.ok(Math.abs(Date.now() - startedAtMs) < 60_000);
  }
});

test('once every gateway has confirmed a revocation, none of them lets the key in any more', async () => {
  for (let trial = 0; trial < TRIALS; trial += 1) {
    const { id, key } = await direct.issueKey();
    await untilRead(instances);
    for (const gateway of instances.gateways) assert.equal((await askWith(key, gateway)).status, 200);
    await direct.store.keys.revoke(id, 'test', undefined);
    await confirmedBy(2);
    const answers = await Promise.all(instances.gateways.map((gateway) => askWith(key, gateway)));
    assert.deepEqual(
      answers.map(({ error }) => error.code),
      ['api_key_revoked', 'api_key_revoked'],
    );
  }
});

test('the status shows the confirmed sequence', async () => {
  await direct.issueKey();
  const latest = await confirmedBy(2);
  const statuses = await Promise.all(instances.gateways.map(keysStatusOf));
  assert.deepEqual(
    statuses.map(({ position }) => position),
    [latest, latest],
  );
});

test('a gateway that was stopped is gone from the list', async () => {
  await confirmedBy(2);
  const stopped = await idOf(behindRelay);
  await behindRelay.app.stop();
  assert.deepEqual(
    (await listed()).map(({ id }) => id),
    [await idOf(direct)],
  );
  assert.notEqual(stopped, await idOf(direct));
});

test('one that is cut off stays listed, silent and behind, until it is back and has caught up', async () => {
  await direct.issueKey();
  const before = await confirmedBy(2);
  await relay.kill();
  await eventually(async () => (await keysStatusOf(behindRelay)).store === 'failing');
  const { silentMs = 0 } = (await reportOf(behindRelay)) ?? {};
  await direct.issueKey();
  const latest = await confirmedBy(1);
  // Longer than it ever is while all is well.
  await eventually(async () => ((await reportOf(behindRelay))?.silentMs ?? 0) > Math.max(silentMs, 2500));
  const cutOff = await reportOf(behindRelay);
  assert.equal(cutOff?.position, before);
  assert.ok(((await reportOf(direct))?.silentMs ?? Number.POSITIVE_INFINITY) < 2500);
  await relay.restart();
  assert.equal(await confirmedBy(2), latest);
});
