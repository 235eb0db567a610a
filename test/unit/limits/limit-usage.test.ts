import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { resetLimits } from '../../../gateway/administration/limits.ts';
import type { KeyStore } from '../../../gateway/auth/store/key-store.ts';
import { createChargesOf } from '../../../gateway/limits/charges.ts';
import type { CounterStore } from '../../../gateway/limits/counters/counter-store.ts';
import { uncountedDecision } from '../../../gateway/limits/counters/counter-store.ts';
import { createProcessStore, type ProcessStore } from '../../../gateway/limits/counters/process-store.ts';
import type { LimitRules } from '../../../gateway/limits/limit-rules.ts';
import { createLimitUsage, type LimitUsage } from '../../../gateway/limits/limit-usage.ts';
import { caller, operation, organization, rule, rules } from './parties.ts';
import { START_MS } from './scenarios.ts';

const acme = organization('org_acme');
const createJob = operation('createJob', { extraLimit: 'job-creation', cost: 2 });
const extra = { 'job-creation': { ...rule(30, { enforce: false, windowSeconds: 10 }), per: 'key' as const } };
const iso = (ms: number) => new Date(START_MS + ms).toISOString();

let nowMs = START_MS;
let table: LimitRules;
let store: ProcessStore;
let noted: unknown[];
beforeEach(() => {
  nowMs = START_MS;
  table = rules({ extra });
  store = createProcessStore({ now: () => nowMs });
  noted = [];
});

function usageOf(counters: Pick<CounterStore, 'decide' | 'reset'> = store): LimitUsage {
  return createLimitUsage({
    store: counters,
    rules: () => table,
    operations: () => [createJob],
    organizationOf: (id) => (id === acme.id ? acme : undefined),
    keysOf: () => ['key_1'],
    placeOf: (rule) => `limits.yaml of ${rule}`,
  });
}

function reset(limitUsage: LimitUsage, organization: string, dryRun = false) {
  const audit = { append: (...change: unknown[]) => void noted.push(change) };
  const actor = { kind: 'operator', by: 'ada', requestId: 'req_1' } as const;
  return resetLimits({ store: { audit } as unknown as KeyStore, limitUsage, now: () => nowMs }, actor, {
    organization,
    dryRun,
  });
}

/** One request to createJob. */
function spend(): string {
  return store.decide(createChargesOf(table)(caller('key_1', acme), createJob, '').charges).outcome;
}

test('shows the used units of each limit, by which rule, and when the oldest is freed', async () => {
  spend();
  nowMs += 3_000;
  spend();
  assert.deepEqual(await usageOf().show('org_acme'), {
    organization: 'org_acme',
    tier: 'standard',
    limits: [
      {
        policy: 'organization',
        rule: 'tiers.standard',
        rule_at: 'limits.yaml of tiers.standard',
        key_id: null,
        operations: null,
        enforced: true,
        limit: 100,
        window_seconds: 60,
        used: 4,
        remaining: 96,
        next_freed_at: iso(60_000),
        source: 'process',
      },
      {
        policy: 'job-creation',
        rule: 'extra.job-creation',
        rule_at: 'limits.yaml of extra.job-creation',
        key_id: 'key_1',
        operations: ['createJob'],
        enforced: false,
        limit: 30,
        window_seconds: 10,
        used: 4,
        remaining: 26,
        next_freed_at: iso(10_000),
        source: 'process',
      },
    ],
  });
});

test('an unused limit has nothing to be freed, and looking spends nothing', async () => {
  const limits = async () => (await usageOf().show('org_acme'))?.limits;
  const untouched = await limits();
  assert.deepEqual(
    untouched?.map(({ used, remaining, next_freed_at }) => [used, remaining, next_freed_at]),
    [
      [0, 100, null],
      [0, 30, null],
    ],
  );
  assert.deepEqual(await limits(), untouched);
});

test('a limit lowered below its used units shows all of them, and nothing left', async () => {
  for (let i = 0; i < 10; i += 1) spend();
  table = rules({ tiers: { standard: rule(5) }, extra });
  const [main] = (await usageOf().show('org_acme'))?.limits ?? [];
  assert.deepEqual([main?.limit, main?.used, main?.remaining], [5, 20, 0]);
});

test('a reset restores all limits, and notes its author and the former use', async () => {
  table = rules({ tiers: { standard: rule(2) }, extra });
  assert.deepEqual([spend(), spend()], ['admitted', 'refused']);
  assert.deepEqual(await reset(usageOf(), 'org_acme'), { organization: 'org_acme', counters: 4 });
  const of = (used: number, again: number) => ({
    limits: [
      { policy: 'organization', key_id: null, used },
      { policy: 'job-creation', key_id: 'key_1', used: again },
    ],
  });
  assert.deepEqual(noted, [
    ['limits.reset', { by: 'ada', requestId: 'req_1' }, { before: of(2, 2), after: of(0, 0) }, 'org_acme'],
  ]);
  assert.deepEqual(
    (await usageOf().show('org_acme'))?.limits.map(({ used }) => used),
    [0, 0],
  );
  assert.deepEqual([spend(), spend()], ['admitted', 'refused']);
});

test('a trial of a reset says the same, and neither resets nor notes anything', async () => {
  spend();
  assert.deepEqual(await reset(usageOf(), 'org_acme', true), { organization: 'org_acme', counters: 4 });
  assert.deepEqual(noted, []);
  assert.deepEqual(
    (await usageOf().show('org_acme'))?.limits.map(({ used }) => used),
    [2, 2],
  );
});

test('of an organization that is not there nothing is shown, reset or noted', async () => {
  assert.equal(await usageOf().show('org_none'), undefined);
  assert.equal(await reset(usageOf(), 'org_none'), undefined);
  assert.deepEqual(noted, []);
});

test('counters that are away are not taken for unused ones, and a reset that failed is not noted', async () => {
  const away = {
    decide: () => uncountedDecision('undecided', nowMs, 'refuse'),
    reset: () => Promise.reject(new Error('Redis is away')),
  };
  await assert.rejects(usageOf(away).show('org_acme'), /away/);
  await assert.rejects(reset(usageOf(away), 'org_acme'), /away/);
  assert.deepEqual(noted, []);
});
