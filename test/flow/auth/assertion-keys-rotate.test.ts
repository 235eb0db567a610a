// A rotation of the assertion keys, seen from behind running gateways: an upstream that caches the published keys for as long as it is
// allowed to never meets one that it does not know, and every gateway hands over at the same moment.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { rotateKeys } from '../../../gateway/auth/assertions/assertion-keys.ts';
import { newAssertionKey, printAssertionKeys } from '../../../gateway/config/secrets/assertion-keys.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { type GatewayOptions, startGateway, type TestGateway } from '../../support/gateway.ts';
import { eventually } from '../../support/instances.ts';
import { createInstallation } from '../../support/process.ts';
import { apartAt, startRedis, type TestRedis } from '../../support/redis.ts';
import { thingsAt } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';
import { LIMIT_RUNS } from '../../unit/limits/scenarios.ts';

const MINUTE = 60_000;

/** Runs ahead of the real one, under the control of the test. */
function createClock() {
  const clock = { aheadMs: 0, now: () => Date.now() + clock.aheadMs };
  return clock;
}
type Clock = ReturnType<typeof createClock>;
/** For a leap of the clock, known keys need not have been confirmed. */
const LEAPS = { keys: { graceSeconds: 86_400 } };

async function publishedBy({ url }: TestGateway): Promise<{ keys: JSONWebKeySet; maxAgeMs: number }> {
  const answer = await fetch(`${url}/.well-known/jwks.json`);
  const [, seconds] = /^public, max-age=(\d+)$/.exec(answer.headers.get('cache-control') ?? '') ?? [];
  return { keys: (await answer.json()) as JSONWebKeySet, maxAgeMs: Number(seconds) * 1000 };
}

const publishes = (count: number, gateways: readonly TestGateway[]) =>
  eventually(async () => {
    const sets = await Promise.all(gateways.map(publishedBy));
    return sets.every(({ keys }) => keys.keys.length === count);
  });

/** An upstream that fetches keys when its copy is too old, and at no other time. */
function createSleepyVerifier(gateway: TestGateway, clock: Clock) {
  let copy: { readonly keys: ReturnType<typeof createLocalJWKSet>; readonly untilMs: number } | undefined;
  return async function verify(token: string): Promise<void> {
    if (copy === undefined || copy.untilMs <= clock.now()) {
      const { keys, maxAgeMs } = await publishedBy(gateway);
      copy = { keys: createLocalJWKSet(keys), untilMs: clock.now() + maxAgeMs };
    }
    await jwtVerify(token, copy.keys, {
      algorithms: ['EdDSA'],
      audience: 'things',
      currentDate: new Date(clock.now()),
    });
  };
}

describe('a rotation of the assertion keys', { concurrency: true }, () => {
  let redis: TestRedis;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());

  async function start(t: TestContext, { now }: Clock, options: GatewayOptions): Promise<TestGateway> {
    const gateway = await startGateway({ gateway: LEAPS, now, ...options });
    t.after(() => gateway.stop());
    return gateway;
  }

  async function startThings(t: TestContext) {
    const upstream = await startUpstream();
    t.after(() => upstream.close());
    /** The request of this caller as the upstream receives it. */
    async function tokenFrom({ url }: TestGateway, headers: Record<string, string>): Promise<string> {
      assert.equal((await fetch(`${url}/v1/things`, { headers })).status, 200);
      return upstream.requests.at(-1)?.headers['x-gateway-assertion'] as string;
    }
    return { things: thingsAt(upstream.url), tokenFrom };
  }

  it('is seen through by two gateways on one Redis, without an upstream that ever meets an unknown key', async (t) => {
    const clock = createClock();
    const environment = { REDIS_URL: apartAt(redis.url) };
    const { things, tokenFrom } = await startThings(t);
    const startOne = () => start(t, clock, { ...things, environment });
    const gateways = await Promise.all([startOne(), startOne()]);
    const [first, second] = gateways;
    const headers = await first.authorize();
    const former = (await publishedBy(first)).keys.keys[0]?.kid;
    assert.equal((await publishedBy(second)).keys.keys[0]?.kid, former, 'both begin with the same key');
    // One copy that is as fresh as can be just before the rotation: it is the last to be renewed.
    const verify = createSleepyVerifier(second, clock);
    await verify(await tokenFrom(first, headers));

    const installation = createInstallation(environment);
    t.after(() => installation.remove());
    const { added } = JSON.parse((await installation.run('assertion-keys', 'rotate', '--json')).stdout);
    await publishes(2, gateways);
    const handover = new Map(gateways.map((gateway) => [gateway, 0]));
    const rotatedAtMs = clock.now();
    const stepMs = LIMIT_RUNS > 1 ? MINUTE / 3 : MINUTE;
    for (let passed = 0; passed <= 75 * MINUTE; passed += stepMs) {
      clock.aheadMs += stepMs;
      for (const gateway of gateways) {
        const token = await tokenFrom(gateway, headers);
        const { kid } = decodeProtectedHeader(token);
        await verify(token);
        if (kid === added && handover.get(gateway) === 0) handover.set(gateway, clock.now() - rotatedAtMs);
        assert.equal(kid, handover.get(gateway) === 0 ? former : added, 'no instance returns to the former key');
      }
    }
    for (const afterMs of handover.values())
      assert.ok(afterMs >= 9 * MINUTE && afterMs <= 12 * MINUTE, `handed over after ${afterMs} ms`);
    await publishes(1, gateways);
  });

  it('of a set in the secrets store is followed; one that is malformed is reported, and the last good one stays', async (t) => {
    const directory = join(temporaryDirectory(), 'secrets-store');
    mkdirSync(directory);
    const file = join(directory, 'assertion_keys');
    const set = [newAssertionKey()];
    writeFileSync(file, printAssertionKeys(set));
    const clock = createClock();
    const { things, tokenFrom } = await startThings(t);
    const gateway = await start(t, clock, { ...things, environment: { SECRETS_DIR: directory } });
    const headers = await gateway.authorize();
    await tokenFrom(gateway, headers);

    const text = printAssertionKeys(
      rotateKeys(set, newAssertionKey(), { nowMs: clock.now(), leadMs: 0, overlapMs: MINUTE }),
    );
    writeFileSync(file, text.slice(0, -1));
    const errors = () => gateway.logLines().filter(({ level }) => level === 50);
    await eventually(async () => errors().length > 0);
    assert.deepEqual(
      errors().map(({ reason }) => reason),
      ['The secrets entry assertion_keys is malformed: it is not JSON.'],
    );
    assert.equal((await publishedBy(gateway)).keys.keys.length, 1);
    await tokenFrom(gateway, headers);

    writeFileSync(file, text);
    await publishes(2, [gateway]);
    assert.ok(!JSON.stringify(gateway.logLines()).includes(set[0]?.d ?? ''), 'private halves are not logged');
  });

  it('does not disturb the sandbox, which follows it without a restart', async (t) => {
    const clock = createClock();
    const gateway = await start(t, clock, {});
    const headers = await gateway.authorize({ mode: 'test' });
    const list = async () => (await fetch(`${gateway.url}/v1/customers?limit=1`, { headers })).status;
    const process = () => JSON.parse(readFileSync(join(gateway.dataDirectory, 'sandbox', 'sandbox.json'), 'utf8')).pid;
    const trusted = () => JSON.parse(readFileSync(join(gateway.dataDirectory, 'sandbox', 'jwks.json'), 'utf8')).keys;
    assert.equal(await list(), 200);
    const [{ kid: former }] = trusted();
    const pid = process();

    const installation = createInstallation({ GATEWAY_DATA: gateway.dataDirectory });
    t.after(() => installation.remove());
    await installation.run('assertion-keys', 'rotate');
    await eventually(async () => trusted().length === 2);
    for (let minutes = 0; minutes <= 75; minutes += 3) {
      clock.aheadMs += 3 * MINUTE;
      assert.equal(await list(), 200, `after ${minutes} minutes`);
    }
    await eventually(async () => trusted().length === 1);
    assert.notEqual(trusted()[0].kid, former);
    assert.equal(await list(), 200);
    assert.equal(process(), pid);
  });
});
