import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LoggedRequest } from '../../../../gateway/commands/limits/simulate/logged-request.ts';
import { createSimulation, type SimulationResult } from '../../../../gateway/commands/limits/simulate/replay.ts';
import type { Tally } from '../../../../gateway/commands/limits/simulate/tally.ts';
import { createChargesOf } from '../../../../gateway/limits/charges.ts';
import type { LimitRules } from '../../../../gateway/limits/limit-rules.ts';
import { caller, operation, organization, rule, rules } from '../../limits/parties.ts';
import { createReference } from '../../limits/reference-model.ts';
import { LIMIT_RUNS, START_MS } from '../../limits/scenarios.ts';
import { recorded } from './logged-requests.ts';

const listThings = operation('listThings');
const createJob = operation('createJob', { extraLimit: 'jobs', cost: 2 });
const operations = new Map([listThings, createJob].map((one) => [one.id, one]));

/** Ten requests a minute at present, four under the candidate. */
const present = rules({
  tiers: { standard: rule(10), premium: rule(100) },
  extra: { jobs: { ...rule(6), per: 'key' } },
});
const candidate = rules({ ...present, tiers: { standard: rule(4), premium: rule(100) } });

function simulate(
  log: readonly LoggedRequest[],
  other: LimitRules = candidate,
  now: LimitRules = present,
): SimulationResult {
  const simulation = createSimulation({ operations, present: now, candidate: other });
  for (const one of log) simulation.replay(one);
  const result = simulation.result();
  assert.ok(result);
  return result;
}

/** So many requests, a second apart. */
function burst(count: number, fromMs = 0, members: Partial<LoggedRequest> = {}): LoggedRequest[] {
  return Array.from({ length: count }, (_, index) => recorded(fromMs + index * 1000, members));
}

const refusedOf = ({ requests, present: now, candidate: then }: Tally) => [requests, now.refused, then.refused];

test('each request is decided under both rules, at the time it was recorded', () => {
  // The first window is 12 long; at 60 s and 61 s the first two units of it are free again.
  const { total, fromMs, toMs, late } = simulate([...burst(12), ...burst(2, 60_000)]);
  assert.deepEqual(refusedOf(total), [14, 2, 8]);
  assert.deepEqual([fromMs, toMs, late], [START_MS, START_MS + 61_000, 0]);
});

test('a request refused under one rule set spends nothing there, and something in the other', () => {
  const dear = rules({ ...present, operations: { listThings: { cost: 3 } } });
  // With cost 3 the limit of 10 has room for three; at present for ten.
  assert.deepEqual(refusedOf(simulate(burst(11), dear).total), [11, 1, 8]);
});

test('the same rules refuse the same, and a higher limit less', () => {
  const log = burst(30);
  assert.deepEqual(refusedOf(simulate(log, present).total), [30, 20, 20]);
  const higher = rules({ ...present, organizations: { org_a: rule(25) } });
  assert.deepEqual(refusedOf(simulate(log, higher).total), [30, 20, 5]);
});

test('for any traffic, each rule set refuses the same requests as a model that remembers every admission', () => {
  const request = fc.record({
    advanceMs: fc.integer({ min: 0, max: 8000 }),
    organization: fc.constantFrom('org_a', 'org_b'),
    subject: fc.constantFrom('key_1', 'key_2'),
    operation: fc.constantFrom('listThings', 'createJob'),
  });
  const property = fc.property(fc.array(request, { minLength: 1, maxLength: 60 }), (requests) => {
    let afterMs = 0;
    const log = requests.map(({ advanceMs, ...one }) => {
      afterMs += advanceMs;
      return recorded(afterMs, one);
    });
    const { total } = simulate(log);
    assert.deepEqual(refusedOf(total), [log.length, modelled(log, present), modelled(log, candidate)]);
  });
  fc.assert(property, { numRuns: 50 * LIMIT_RUNS });
});

/** How many requests of a log the reference model refuses. */
function modelled(log: readonly LoggedRequest[], table: LimitRules): number {
  const chargesOf = createChargesOf(table);
  const reference = createReference();
  const refused = log.filter(({ organization: id = '', subject, operation: name, atMs }) => {
    const wanted = operations.get(name) ?? listThings;
    const { charges } = chargesOf(caller(subject, organization(id)), wanted, '192.0.2.1');
    return reference.decide(charges, atMs).outcome === 'refused';
  });
  return refused.length;
}

test('requests are summed up by organization and by tier, and by the logged decision', () => {
  const log = [
    ...burst(6),
    recorded(6000, { refused: true }),
    ...burst(3, 7000, { organization: 'org_b', tier: 'premium' }),
    ...burst(2, 10_000, { organization: 'org_a', tier: 'premium' }),
  ];
  const { tiers, organizations, total } = simulate(log);
  assert.deepEqual(
    [...tiers].map(([tier, tally]) => [tier, ...refusedOf(tally)]),
    [
      ['standard', 7, 0, 3],
      ['premium', 5, 0, 0],
    ],
  );
  assert.deepEqual(
    organizations.map((one) => [one.organization, one.tier, ...refusedOf(one)]),
    [
      ['org_a', 'premium', 9, 0, 3],
      ['org_b', 'premium', 3, 0, 0],
    ],
  );
  assert.equal(total.recordedRefused, 1);
});

test('the worst minute is the minute of the clock with the most refusals, the first of several', () => {
  const minutes = (index: number, count: number) => burst(count, 600_000 * index, {});
  const { total } = simulate([...minutes(0, 6), ...minutes(1, 9), ...minutes(2, 9)]);
  assert.deepEqual(total.candidate.worstMinute, { atMs: START_MS + 600_000, refused: 5 });
  assert.equal(total.present.worstMinute, undefined);
  const over = Array.from({ length: 8 }, (_, index) => recorded(59_960 + index * 10));
  assert.deepEqual(simulate(over).total.candidate.worstMinute, { atMs: START_MS + 60_000, refused: 4 });
});

test('shadow limits are reported apart, and by limit together with those that are enforced', () => {
  const shadow = rules({ ...present, tiers: { standard: rule(4, { enforce: false }) } });
  const log = [...burst(5), ...burst(4, 5000, { operation: 'createJob' })];
  const { total, limits } = simulate(log, shadow);
  assert.deepEqual([total.present.refused, total.present.shadowRefused], [2, 0]);
  assert.deepEqual([total.candidate.refused, total.candidate.shadowRefused], [1, 5]);
  assert.deepEqual(Object.fromEntries(limits), {
    organization: { present: 2, candidate: 5 },
    jobs: { present: 0, candidate: 1 },
  });
});

test('limits per key count keys and tokens apart', () => {
  const log = [
    ...burst(3, 0, { operation: 'createJob', organization: 'org_b', tier: 'premium' }),
    ...burst(4, 3000, { operation: 'createJob', organization: 'org_b', tier: 'premium', issuer: 'web' }),
  ];
  assert.deepEqual(refusedOf(simulate(log).total), [7, 1, 1]);
});

test('anonymous requests count by address, where a tier of that name counts them', () => {
  const anonymous = (client: string) => burst(3, 0, { organization: undefined, tier: undefined, client });
  const log = [...anonymous('192.0.2.1'), ...anonymous('192.0.2.2')].toSorted((a, b) => a.atMs - b.atMs);
  const counted = rules({ ...present, tiers: { ...present.tiers, anonymous: rule(2) } });
  const { organizations, tiers, total } = simulate(log, counted);
  assert.deepEqual(refusedOf(total), [6, 0, 2]);
  assert.deepEqual([organizations[0]?.organization, [...tiers.keys()]], [undefined, ['anonymous']]);
});

test('a request that comes too late counts at the time that is reached by then', () => {
  const { late, total, toMs } = simulate([recorded(0), recorded(60_000), recorded(30_000)]);
  assert.deepEqual([late, total.requests, toMs], [1, 3, START_MS + 60_000]);
});

test('operations that are in no contract cost one unit, and are named', () => {
  const { unknownOperations, total } = simulate(burst(12, 0, { operation: 'gone' }));
  assert.deepEqual(refusedOf(total), [12, 2, 8]);
  assert.deepEqual([...unknownOperations], [['gone', 12]]);
});

test('a caller that returns after very many others has spent as much as before', () => {
  const once = recorded(0, { operation: 'createJob', tier: 'premium' });
  const simulation = createSimulation({ operations, present, candidate: rules({ ...present, countPer: 'key' }) });
  for (let index = 0; index < 3; index += 1) simulation.replay(once);
  for (let index = 0; index < 12_000; index += 1) {
    simulation.replay(recorded(index, { organization: `org_${index}`, subject: `key_${index}` }));
  }
  simulation.replay({ ...once, atMs: START_MS + 30_000 });
  assert.deepEqual(refusedOf(simulation.result()?.total as Tally), [12_004, 1, 1]);
});

test('without a request there is no result', () => {
  assert.equal(createSimulation({ operations, present, candidate }).result(), undefined);
});
