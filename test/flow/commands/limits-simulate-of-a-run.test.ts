// A replay decides as the gateway did: it refuses the requests that the gateway refused, and no others.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { startRedis } from '../../support/redis.ts';
import { thingsAt } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';
import { START_MS } from '../../unit/limits/scenarios.ts';
import { simulateLine } from './simulate-line.ts';

type Line = Record<string, unknown>;

/** Its limits file is at the same time the candidate, so that nothing may differ. */
async function replayed({ directory }: TestGateway, logs: readonly (readonly Line[])[]) {
  const { json, log } = simulateLine(directory);
  const paths = logs.map((lines, index) => log(lines, `${index}.ndjson`));
  return json('limits', 'simulate', '--limits', join(directory, 'config/limits.yaml'), '--log', ...paths);
}

async function call(
  { url }: TestGateway,
  authorization: string,
  method: 'GET' | 'POST',
  path = '/v1/things',
): Promise<number> {
  const body = method === 'GET' ? {} : { body: '{"name":"one"}' };
  const headers = { authorization, 'content-type': 'application/json' };
  const answer = await fetch(url + path, { method, headers, ...body });
  await answer.arrayBuffer();
  return answer.status;
}

/** Whole numbers below a bound, always the same ones: a test that fails has to fail again. */
function createChoice(): (below: number) => number {
  let state = 7;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

test('a run with several limits, costs, keys and shadow limits is reproduced request by request', async (t) => {
  const clock = { nowMs: START_MS };
  const choose = createChoice();
  // An exchange ends, and its line is written, long after its limits were decided.
  const upstream = await startUpstream((_, response) => {
    clock.nowMs += choose(1200);
    response.setHeader('content-type', 'application/json');
    response.end('{}');
  });
  t.after(() => upstream.close());
  const gateway = await startGateway({
    ...thingsAt(upstream.url),
    limits: {
      countPer: 'key',
      tiers: { standard: { requests: 8, windowSeconds: 20 }, premium: { requests: 30, windowSeconds: 40 } },
      organizations: { org_own: { requests: 5, windowSeconds: 10 } },
      extra: {
        writes: { requests: 9, windowSeconds: 30 },
        reads: { requests: 4, windowSeconds: 15, per: 'key', enforce: false },
      },
      operations: { createThing: { extra: 'writes', cost: 3 }, getThing: { extra: 'reads' } },
    },
    now: () => clock.nowMs,
  });
  t.after(() => gateway.stop());
  const keys: string[] = [];
  for (const [organization, tier] of [
    ['org_a', 'standard'],
    ['org_a', 'standard'],
    ['org_b', 'premium'],
    ['org_own', 'standard'],
  ] as const) {
    keys.push((await gateway.authorize({ organization, tier })).authorization);
  }
  for (let sent = 0; sent < 250; sent += 1) {
    // Some come within the same millisecond.
    clock.nowMs += choose(3) === 0 ? 0 : choose(300);
    const [method, path] = ([['POST'], ['GET'], ['GET', '/v1/things/7'], ['GET', '/none']] as const)[choose(4)] ?? [];
    await call(gateway, keys[choose(keys.length)] ?? '', method ?? 'GET', path);
  }
  const lines = gateway.logLines();
  const { total, organizations, limits, lines: used } = await replayed(gateway, [lines]);

  const refused = lines.filter(({ code }) => code === 'rate_limited');
  assert.ok(refused.length > 40, `${refused.length} were refused`);
  assert.equal(used.unused.before_limits, lines.filter(({ stage }) => stage === 'match').length);
  assert.equal(total.present.refused, refused.length);
  assert.equal(total.present.shadow_refused, lines.filter((line) => line.shadow_refused !== undefined).length);
  assert.ok(limits.some(({ limit }: { limit: string }) => limit === 'writes'));
  for (const { organization, present, candidate } of organizations) {
    assert.equal(present.refused, refused.filter((line) => line.organization === organization).length);
    assert.deepEqual(candidate, present);
  }
});

test('a run of two instances on one Redis, in a hurry, is reproduced from their two logs', async (t) => {
  const redis = await startRedis();
  const upstream = await startUpstream();
  const limits = {
    tiers: { standard: { requests: 8, windowSeconds: 1 }, premium: { requests: 15, windowSeconds: 1 } },
  };
  const options = { ...thingsAt(upstream.url), limits, environment: { REDIS_URL: redis.url } };
  const gateways = [await startGateway(options), await startGateway(options)];
  t.after(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await upstream.close();
    await redis.stop();
  });
  const [first, second] = gateways as [TestGateway, TestGateway];

  /** One run of new organizations; its log lines, by gateway. */
  async function hurry(run: number): Promise<Record<string, unknown>[][]> {
    const standard = await first.authorize({ organization: `org_a${run}` });
    const premium = await first.authorize({ organization: `org_b${run}`, tier: 'premium' });
    const before = gateways.map((gateway) => gateway.logLines().length);
    const until = Date.now() + 1700;
    let refused = 0;
    // On a busy machine it takes longer to meet the limits.
    const isOver = () => Date.now() >= until && (refused > 20 || Date.now() >= until + 20_000);
    const client = async (index: number) => {
      const { authorization } = index % 4 < 2 ? standard : premium;
      while (!isOver()) if ((await call(index % 2 === 0 ? first : second, authorization, 'GET')) === 429) refused += 1;
    };
    await Promise.all(Array.from({ length: 8 }, (_, index) => client(index)));
    return gateways.map((gateway, index) => gateway.logLines().slice(before[index]));
  }

  let logs = await hurry(1);
  // Where the machine is held up for longer than Redis has, the policy decides, and that is not reproduced.
  for (let run = 2; run <= 4 && logs.flat().some(({ limit_source }) => limit_source === 'local'); run += 1) {
    logs = await hurry(run);
  }
  const { total, organizations } = await replayed(first, logs);
  const refused = logs.flat().filter(({ code }) => code === 'rate_limited');
  assert.ok(refused.length > 20, `${refused.length} were refused`);
  assert.equal(total.present.refused, refused.length);
  for (const { organization, present, recorded } of organizations) {
    assert.ok(recorded.refused > 0, organization);
    assert.equal(present.refused, recorded.refused, organization);
  }
});
