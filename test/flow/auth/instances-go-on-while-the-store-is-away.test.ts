// The key store goes away under running gateways: known keys are accepted during the grace period, other keys get an honest error,
// operators see the outage, and afterwards the gateways recover without a restart.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { Answer } from '../../support/connection.ts';
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
import { startRunningClock } from '../../support/stand-still.ts';
import { makeKey } from '../../unit/auth/samples.ts';

const GRACE_MS = 900_000;

let redis: TestRedis;
let relay: Relay;
let instances: Instances;
/** Only the first one's way to Redis is damaged. */
let cutOff: TestGateway;
let other: TestGateway;
let clockMovedMs: number;

beforeEach(async () => {
  clockMovedMs = 0;
  redis = await startRedis();
  const url = apartAt(redis.url);
  relay = await startRelay(url);
  instances = await startInstances([relay.url, url], { now: () => Date.now() + clockMovedMs });
  [cutOff, other] = instances.gateways as [TestGateway, TestGateway];
});
afterEach(async () => {
  await instances.close();
  await relay.stop();
  await redis.stop();
});

const outcomeOf = ({ status, error }: Answer) => (error.code === undefined ? status : `${status} ${error.code}`);
const ask = async (key: string) => outcomeOf(await askWith(key, cutOff));
const metricsOf = async ({ adminUrl }: TestGateway) => (await fetch(`${adminUrl}/metrics`)).text();
const storeIs = (state: string) => eventually(async () => (await keysStatusOf(cutOff)).store === state);

test('known keys work during the grace, unknown keys get 503 and never 401, and the status shows the outage', async () => {
  const [known, strange] = [await other.issueKey(), await other.issueKey()];
  await untilRead(instances);
  assert.equal(await ask(known.key), 200);
  const before = await keysStatusOf(cutOff);
  assert.deepEqual([before.store, before.reason, before.graceEndsAtMs], ['reachable', undefined, undefined]);

  await relay.kill();
  await storeIs('failing');
  assert.equal(await ask(known.key), 200);
  assert.equal(await ask(strange.key), '503 auth_unavailable');
  assert.equal(await ask(makeKey()), '503 auth_unavailable');
  assert.equal(await ask(`${known.key}x`), '401 api_key_malformed');
  const { reason, readAtMs, graceEndsAtMs, instance, position } = await keysStatusOf(cutOff);
  assert.match(reason ?? '', /Redis/);
  assert.deepEqual([graceEndsAtMs, instance, position], [readAtMs + GRACE_MS, before.instance, before.position]);
  const readiness = await fetch(`${cutOff.adminUrl}/readyz`);
  assert.equal(readiness.status, 200);
  assert.equal(((await readiness.json()) as { checks: { keys: string } }).checks.keys, 'failing');
  assert.match(await metricsOf(cutOff), /^gateway_key_store_away 1$/m);

  clockMovedMs = GRACE_MS - 60_000;
  assert.equal(await ask(known.key), 200);
  clockMovedMs = GRACE_MS + 1;
  assert.equal(await ask(known.key), '503 auth_unavailable');

  await relay.restart();
  await storeIs('reachable');
  assert.deepEqual([await ask(known.key), await ask(strange.key)], [200, 200]);
  assert.equal(await ask(makeKey()), '401 api_key_invalid');
  assert.match(await metricsOf(cutOff), /^gateway_key_store_away 0$/m);
  const told = cutOff.logLines().filter(({ msg }) => /^the key store can/.test(String(msg)));
  const levels = told.map(({ level }) => level);
  assert.deepEqual([levels[0], levels.at(-1)], [50, 30], 'an error when it went, a line when it came back');
  assert.ok(levels.length < 8, 'and not one for every poll');
});

test('changes made while the store was away are in force as soon as it is back', async () => {
  const [ended, stays] = [await other.issueKey(), await other.issueKey()];
  await untilRead(instances);
  assert.deepEqual([await ask(ended.key), await ask(stays.key)], [200, 200]);
  await relay.kill();
  await storeIs('failing');
  await other.store.keys.revoke(ended.id, 'test', undefined);
  assert.equal(await ask(ended.key), 200);
  await relay.restart();
  await storeIs('reachable');
  assert.deepEqual([await ask(ended.key), await ask(stays.key)], ['401 api_key_revoked', 200]);
});

test('a store that does not answer counts as away, and no request waits long for it', async () => {
  const [known, strange] = [await other.issueKey(), await other.issueKey()];
  await untilRead(instances);
  assert.equal(await ask(known.key), 200);
  relay.pause();
  const clock = startRunningClock();
  assert.equal(await ask(strange.key), '503 auth_unavailable');
  clock.stop();
  // The store's own deadline is half a second; the rest is for a busy machine.
  assert.ok(clock.ms() < 1500, `${clock.ms()} ms`);
  await storeIs('failing');
  assert.deepEqual([await ask(known.key), await ask(makeKey())], [200, '503 auth_unavailable']);
  relay.resume();
  await storeIs('reachable');
  assert.deepEqual([await ask(known.key), await ask(strange.key)], [200, 200]);
});
