// `gateway limits show` and `reset`, with the counters in Redis or in the gateway's memory: the same words, the same effects.

import assert from 'node:assert/strict';
import { after, describe, it, type TestContext } from 'node:test';
import type { LimitUsageReport, LimitUse } from '../../../gateway/limits/limit-usage.ts';
import { apartAt, startRedis } from '../../support/redis.ts';
import { untilRedisDecides } from '../../support/redis-decides.ts';
import { startUpstream } from '../../support/upstream.ts';
import { until } from '../../unit/auth/samples.ts';
import { limitsLine } from './limits-line.ts';

const redis = await startRedis();
after(() => redis.stop());

const figuresOf = ({ limits }: LimitUsageReport) =>
  limits.map(({ policy, used, remaining }) => [policy, used, remaining]);
const untimed = ({ next_freed_at, source, rule_at, ...rest }: LimitUse) => rest;

const places = [
  { name: 'in the memory of the gateway', source: 'process', environment: async () => ({}) },
  { name: 'in Redis', source: 'redis', environment: async () => ({ REDIS_URL: apartAt(redis.url) }) },
];
for (const { name, source, environment } of places) {
  describe(`counters ${name}`, () => {
    /** With a gateway on counters of its own, after these calls. */
    function lineAfter(t: TestContext, ...methods: readonly ('GET' | 'POST')[]) {
      return untilRedisDecides(async () => {
        const line = await limitsLine(t, await environment());
        const startedMs = Date.now();
        const statuses: number[] = [];
        for (const method of methods) statuses.push(await line.call(method));
        return { gateways: [line.gateway], outcome: { ...line, startedMs, statuses } };
      });
    }

    it('are shown by the rules they come from, and looking spends nothing', async (t) => {
      const { json, keyId, startedMs, statuses } = await lineAfter(t, 'POST', 'GET');
      assert.deepEqual(statuses, [200, 200]);
      await json('limits', 'show', '--org', 'org_acme');
      const report: LimitUsageReport = await json('limits', 'show', '--org', 'org_acme');
      assert.deepEqual([report.organization, report.tier], ['org_acme', 'standard']);
      assert.deepEqual(report.limits.map(untimed), [
        {
          policy: 'organization',
          rule: 'tiers.standard',
          key_id: null,
          operations: null,
          enforced: true,
          limit: 3,
          window_seconds: 60,
          used: 2,
          remaining: 1,
        },
        {
          policy: 'creating',
          rule: 'extra.creating',
          key_id: keyId,
          operations: ['createThing'],
          enforced: true,
          limit: 2,
          window_seconds: 60,
          used: 1,
          remaining: 1,
        },
        {
          policy: 'listing',
          rule: 'extra.listing',
          key_id: null,
          operations: ['listThings'],
          enforced: false,
          limit: 1,
          window_seconds: 60,
          used: 1,
          remaining: 0,
        },
      ]);
      for (const limit of report.limits) {
        assert.equal(limit.source, source);
        assert.match(limit.rule_at ?? '', /config\/limits\.yaml:\d+$/);
        const freedMs = Date.parse(limit.next_freed_at ?? '');
        assert.ok(freedMs >= startedMs + 59_000 && freedMs <= Date.now() + 60_000, limit.next_freed_at ?? 'null');
      }
    });

    it('are forgotten by a reset: a refused organization is admitted, and the audit log names the actor', async (t) => {
      const { call, json, gateway, statuses } = await lineAfter(t, 'GET', 'GET', 'GET', 'GET', 'GET');
      // The second refusal is one that the gateway remembers.
      assert.deepEqual(statuses.slice(3), [429, 429]);

      const reset = await json('limits', 'reset', '--org', 'org_acme');
      assert.equal(reset.organization, 'org_acme');
      assert.deepEqual(figuresOf(await json('limits', 'show', '--org', 'org_acme')), [
        ['organization', 0, 3],
        ['creating', 0, 2],
        ['listing', 0, 1],
      ]);
      await until(async () => (await call('GET')) === 200);

      const [change] = await gateway.store.audit.list({ organization: 'org_acme', limit: 1 });
      assert.deepEqual([change?.kind, change?.organization, change?.by], ['limits.reset', 'org_acme', 'tests']);
    });

    it('of another organization stay as they are', async (t) => {
      const { json, gateway } = await lineAfter(t, 'GET');
      await gateway.issueKey({ organization: 'org_other' });
      await json('limits', 'reset', '--org', 'org_other');
      assert.deepEqual(figuresOf(await json('limits', 'show', '--org', 'org_acme'))[0], ['organization', 1, 2]);
      assert.deepEqual(figuresOf(await json('limits', 'show', '--org', 'org_other'))[0], ['organization', 0, 3]);
    });

    it('of an organization that is not there are not made up', async (t) => {
      const { run } = await limitsLine(t, await environment());
      for (const command of ['show', 'reset']) {
        const { code, err } = await run('limits', command, '--org', 'org_none');
        assert.deepEqual([code, err], [1, 'There is no organization org_none.']);
      }
    });
  });
}

it('people read a table', async (t) => {
  const { call, run, keyId } = await limitsLine(t);
  await call('POST');
  const { out } = await run('limits', 'show', '--org', 'org_acme');
  const [head, , columns, ...rows] = out.trimEnd().split('\n');
  assert.equal(head, 'org_acme, tier standard');
  assert.match(columns ?? '', /^POLICY +RULE +KEY +OPERATIONS +LIMIT +USED +LEFT +NEXT FREED AT +STATE +PLACE$/);
  assert.match(
    rows[0] ?? '',
    /^organization +tiers\.standard +- +all +3 in 60 s +1 +2 +\d{4}-.*Z +enforced +\S+limits\.yaml:3$/,
  );
  assert.match(rows[1] ?? '', new RegExp(`^creating +extra\\.creating +${keyId} +createThing +2 in 60 s +1 +1 `));
  assert.match(
    rows[2] ?? '',
    /^listing +extra\.listing +- +listThings +1 in 60 s +0 +1 +- +shadow +\S+limits\.yaml:\d+$/,
  );
  assert.match((await run('limits', 'reset', '--org', 'org_acme')).out, /^Reset the counters of org_acme: /);
});

describe('when the counters cannot be read', () => {
  it('the command reports that no gateway runs, or that Redis is away', async (t) => {
    const { run, asOperator } = await limitsLine(t);
    asOperator.ADMIN_PORT = await closedPort();
    const alone = await run('limits', 'show', '--org', 'org_acme');
    assert.equal(alone.code, 1);
    assert.match(
      alone.err,
      /^No gateway answers at http:\/\/127\.0\.0\.1:\d+: .* another ADMIN_HOST or ADMIN_PORT\. Without REDIS_URL, only the memory/,
    );

    asOperator.REDIS_URL = `redis://127.0.0.1:${await closedPort()}`;
    const away = await run('limits', 'reset', '--org', 'org_acme');
    assert.equal(away.code, 1);
    assert.match(away.err, /^The counters in Redis cannot be reached: /);
  });

  it('off loopback the admin token opens the listener, and without it the command reports that', async (t) => {
    const { json, run, asOperator } = await limitsLine(t, { ADMIN_HOST: '0.0.0.0', ADMIN_TOKEN: 'made-for-this-test' });
    assert.equal((await json('limits', 'show', '--org', 'org_acme')).organization, 'org_acme');
    delete asOperator.ADMIN_TOKEN;
    const { code, err } = await run('limits', 'reset', '--org', 'org_acme');
    assert.deepEqual([code, err.replace(/:\d+/, '')], [1, `The gateway at http://127.0.0.1 answered 401: ${NO_TOKEN}`]);
  });

  it('another program on the port of the admin listener is not taken for a gateway', async (t) => {
    const { run, asOperator } = await limitsLine(t);
    const other = await startUpstream((_request, response) => response.writeHead(404).end('404 page not found'));
    t.after(() => other.close());
    asOperator.ADMIN_PORT = new URL(other.url).port;
    const { code, err } = await run('limits', 'show', '--org', 'org_acme');
    assert.equal(code, 1);
    assert.match(err, /answered 404: no reason given$/);
  });
});

const NO_TOKEN =
  'The admin token is required, or that of an operator who may act. Put your token of the secret operator_tokens into GATEWAY_OPERATOR_TOKEN.';

/** A port that was just released. */
async function closedPort(): Promise<string> {
  const left = await startUpstream();
  await left.close();
  return new URL(left.url).port;
}
