// Limits in numbers for operators, and the two doors to them on the admin listener.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, it } from 'node:test';
import { closesAfterAll } from '../../support/closing.ts';
import { startGateway } from '../../support/gateway.ts';
import { eventually, untilRead } from '../../support/instances.ts';
import { startServer } from '../../support/redis.ts';
import { thingsAt } from '../../support/things.ts';
import { startUpstream } from '../../support/upstream.ts';

const start = closesAfterAll();
const redis = await start(startServer());
const upstream = await start(startUpstream());
const gateway = await start(
  startGateway({
    ...thingsAt(upstream.url),
    limits: {
      whenStoreIsAway: 'allow',
      tiers: { standard: { requests: 10, windowSeconds: 60 } },
      extra: { watched: { requests: 4, windowSeconds: 60, per: 'organization', enforce: false } },
      operations: { listThings: { extra: 'watched' } },
    },
    environment: { REDIS_URL: redis.url },
  }),
);

/** The value of a series; 0 if there is none. */
async function metric(series: string): Promise<number> {
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}

const decisions = (decision: string, policy = 'organization') =>
  metric(`gateway_rate_limit_decisions_total{policy="${policy}",decision="${decision}"}`);
const decidedBy = (source: string) => metric(`gateway_rate_limit_decisions_by_source_total{source="${source}"}`);
const inForce = (policy: string) => metric(`gateway_limit_store_policy_in_force{policy="${policy}"}`);

async function ask(authorization: string, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    await (await fetch(`${gateway.url}/v1/things`, { headers: { authorization } })).arrayBuffer();
  }
}

describe('the metrics of limits', () => {
  it('count requests that are admitted, near the limit, over it, and over a limit that is not enforced', async () => {
    const { authorization } = await gateway.authorize({ organization: 'org_counted' });
    await ask(authorization, 8);
    assert.equal(await metric('gateway_rate_limit_near_limit_total{policy="organization"}'), 0);
    await ask(authorization, 4);
    assert.equal(await decisions('admitted'), 10);
    assert.equal(await decisions('refused'), 2);
    assert.equal(await decisions('shadow_refused', 'watched'), 8);
    // The ninth and the tenth: with the eighth, 80 % were used and not more.
    assert.equal(await metric('gateway_rate_limit_near_limit_total{policy="organization"}'), 2);
  });

  it('show the source of the decision, and how long Redis took per command', async () => {
    assert.deepEqual([await decidedBy('redis'), await decidedBy('known')], [11, 1]);
    assert.equal(await metric('gateway_limit_store_duration_seconds_count'), 11);
    const seconds = await metric('gateway_limit_store_duration_seconds_sum');
    assert.ok(seconds > 0 && seconds < 60, String(seconds));
  });

  it('name the policy in force while Redis is away, and none while it is up', async () => {
    const { authorization } = await gateway.authorize({ organization: 'org_outage' });
    // Remembered before the outage, which the key store shares; it is remembered once the changes so far are read.
    await untilRead({ gateways: [gateway] });
    await ask(authorization, 1);
    assert.deepEqual([await inForce('allow'), await inForce('local'), await inForce('refuse')], [0, 0, 0]);
    await redis.kill();
    await eventually(async () => (await inForce('allow')) === 1);
    assert.deepEqual([await inForce('local'), await inForce('refuse')], [0, 0]);
    assert.equal(await metric('gateway_limit_store_away'), 1);
    await ask(authorization, 3);
    assert.equal(await decidedBy('allow'), 3);
    await redis.restart();
    await eventually(async () => (await inForce('allow')) === 0);
    // The key store has a connection of its own, which comes back by itself, too.
    const isIssued = () => gateway.issueKey({ organization: 'org_outage' }).then(Boolean, () => false);
    await eventually(isIssued);
  });

  it('have no organization in them', async () => {
    const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
    assert.ok(!text.includes('org_'));
  });
});

describe('the doors to the counters', () => {
  const asked = (method: string, path: string, headers: Record<string, string> = {}) =>
    new Promise<number>((resolve) => {
      const answered = request(`${gateway.adminUrl}${path}`, { method, headers }, (answer) =>
        resolve(answer.resume().statusCode ?? 0),
      );
      answered.end();
    });
  const reset = '/limits/reset?organization=org_guarded';

  it('are shut to pages of other origins and to other host names', async () => {
    await gateway.issueKey({ organization: 'org_guarded' });
    assert.equal(await asked('POST', reset, { origin: 'https://evil.example.com' }), 403);
    assert.equal(await asked('POST', reset, { origin: 'null' }), 403);
    assert.equal(await asked('POST', reset, { host: 'evil.example.com' }), 421);
    assert.equal(await asked('GET', '/limits?organization=org_guarded', { host: 'evil.example.com' }), 421);
    const changes = await gateway.store.audit.list({ organization: 'org_guarded', limit: 10 });
    assert.ok(!changes.some(({ kind }) => kind === 'limits.reset'));
  });

  it('a reset is a POST, and names its author', async () => {
    assert.equal(await asked('GET', reset), 404);
    const noted: unknown[] = [];
    for (const by of ['', '&by=ada', '&by=%1b[2J%0aeve', `&by=${'x'.repeat(100)}`]) {
      assert.equal(await asked('POST', reset + by), 200);
      const [change] = await gateway.store.audit.list({ organization: 'org_guarded', limit: 1 });
      assert.equal(change?.kind, 'limits.reset');
      noted.push(change?.by);
    }
    assert.deepEqual(noted, ['admin listener', 'ada', '?[2J?eve', 'x'.repeat(64)]);
  });

  it('name the fault: no such organization, or counters that are away', async () => {
    assert.equal(await asked('GET', '/limits'), 404);
    assert.equal(await asked('POST', '/limits/reset?organization=org_none'), 404);
    redis.pause();
    try {
      const answer = await fetch(`${gateway.adminUrl}/limits?organization=org_guarded`);
      assert.equal(answer.status, 503);
      assert.deepEqual(await answer.json(), { error: 'The counters or the key store cannot be reached.' });
    } finally {
      redis.resume();
    }
  });
});
