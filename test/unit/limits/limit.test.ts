import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import type { Counted, Permitted } from '../../../gateway/exchange/exchange.ts';
import { trailOf } from '../../../gateway/exchange/trail.ts';
import type { CounterStore } from '../../../gateway/limits/counters/counter-store.ts';
import { uncountedDecision } from '../../../gateway/limits/counters/counter-store.ts';
import { createProcessStore } from '../../../gateway/limits/counters/process-store.ts';
import { createLimit } from '../../../gateway/limits/limit.ts';
import type { LimitRules } from '../../../gateway/limits/limit-rules.ts';
import type { Awaitable } from '../../../gateway/shared/awaitable.ts';
import { caller, operation, organization, permitted, rule, rules } from './parties.ts';

const NOW_MS = 1_795_190_400_000;
const now = () => NOW_MS;
const acme = caller('key_1', organization('org_acme'));
const listJobs = operation('listJobs');
const createJob = operation('createJob', { extraLimit: 'job-creation' });
const tight: LimitRules = rules({ tiers: { standard: rule(2) } });

function stage(table: LimitRules, store: Pick<CounterStore, 'decide'> = createProcessStore({ now })) {
  return createLimit({ store, rules: table, now });
}

function refusalOf(request: Permitted, limit: (request: Permitted) => Awaitable<Counted>): GatewayError {
  try {
    limit(request);
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error('not refused');
}

/** A store that never counts, as Redis does while it is away. */
function awayStore(outcome: 'admitted' | 'undecided', source: string): Pick<CounterStore, 'decide'> {
  return { decide: () => uncountedDecision(outcome, NOW_MS, source) };
}

test('with counters in the process the stage answers without a promise', () => {
  const request = permitted(acme, listJobs);
  const counted = stage(rules())(request);
  assert.ok(!(counted instanceof Promise));
  assert.deepEqual(counted.limits.tightest, {
    policy: 'organization',
    limit: 100,
    windowSeconds: 60,
    remaining: 99,
    resetMs: 60_000,
  });
  assert.equal(counted.caller, acme);
});

test('the trail gets the decision, its source and its time', () => {
  const request = permitted(acme, listJobs);
  stage(rules())(request);
  const { limits, limitSource, limitDecidedAtMs, rare } = trailOf(request.trail);
  assert.equal(limits?.states.length, 1);
  assert.deepEqual([limitSource, limitDecidedAtMs, rare], ['process', NOW_MS, undefined]);
});

test('a refusal names the violated limits and the wait, and carries the headers', () => {
  const limit = stage(tight);
  limit(permitted(acme, listJobs));
  limit(permitted(acme, listJobs));
  const request = permitted(acme, listJobs);
  const { code, details } = refusalOf(request, limit);
  assert.equal(code, 'rate_limited');
  assert.deepEqual(details, { retryAfterSeconds: 60, fields: { violated_policies: ['organization'] } });
  assert.deepEqual(request.commonHeaders, [
    'RateLimit-Policy',
    '"organization";q=2;w=60',
    'RateLimit',
    '"organization";r=0;t=60',
    'X-RateLimit-Limit',
    '2',
    'X-RateLimit-Remaining',
    '0',
    'X-RateLimit-Reset',
    '1795190460',
  ]);
  assert.equal(trailOf(request.trail).limitSource, 'process');
});

test('of two limits, the limit with the smaller remaining share is the tightest', () => {
  const table = rules({ extra: { 'job-creation': { ...rule(30), per: 'organization' } } });
  const counted = stage(table)(permitted(acme, createJob)) as Counted;
  assert.equal(counted.limits.tightest?.policy, 'job-creation');
});

test('of two limits the violated one is the tightest, however much the other has left', () => {
  const extra = { 'job-creation': { ...rule(3), per: 'organization' } } as const;
  const limit = stage(rules({ tiers: { standard: rule(4) }, extra }));
  limit(permitted(acme, createJob));
  const dear = operation('bulkCreate', { extraLimit: 'job-creation', cost: 3 });
  const request = permitted(acme, dear);
  assert.equal(refusalOf(request, limit).code, 'rate_limited');
  assert.equal(trailOf(request.trail).limits?.tightest?.policy, 'job-creation');
});

test('a shadow limit lets the request through and leaves a note', () => {
  const extra = { 'job-creation': { ...rule(1, { enforce: false }), per: 'organization' } } as const;
  const limit = stage(rules({ extra }));
  limit(permitted(acme, createJob));
  const request = permitted(acme, createJob);
  const counted = limit(request) as Counted;
  assert.deepEqual(trailOf(request.trail).rare?.shadowRefusals, ['job-creation']);
  assert.equal(counted.limits.tightest?.policy, 'organization');
  assert.equal(request.commonHeaders[1], '"organization";q=100;w=60');
});

test('a request that no limit concerns passes without headers', () => {
  const request = permitted(caller('anonymous', undefined), listJobs);
  const counted = stage(rules())(request) as Counted;
  assert.deepEqual(counted.limits, { states: [], tightest: undefined });
  assert.deepEqual(request.commonHeaders, []);
});

test('counters away and no admission: gateway_overloaded, and the trail has the outage policy', () => {
  const request = permitted(acme, listJobs);
  assert.equal(refusalOf(request, stage(rules(), awayStore('undecided', 'refuse'))).code, 'gateway_overloaded');
  assert.equal(trailOf(request.trail).limitSource, 'refuse');
});

test('counters away and all let in: no figures are invented', () => {
  const request = permitted(acme, listJobs);
  stage(rules(), awayStore('admitted', 'allow'))(request);
  assert.deepEqual(request.commonHeaders, ['RateLimit-Policy', '"organization";q=100;w=60']);
});

test('new rules on the same store use its counters', () => {
  const store = createProcessStore({ now });
  stage(tight, store)(permitted(acme, listJobs));
  const counted = stage(rules(), store)(permitted(acme, listJobs)) as Counted;
  assert.equal(counted.limits.tightest?.remaining, 98);
});
