// The clocks of the instances do not matter: for any clocks, and any interleaving of the requests of several instances, the admitted
// requests are those that one exact model admits by the clock of the store.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { GatewayError } from '../../../gateway/catalogue/errors.ts';
import type { Caller } from '../../../gateway/exchange/caller.ts';
import type { Counted, Permitted } from '../../../gateway/exchange/exchange.ts';
import type { Operation } from '../../../gateway/exchange/operation.ts';
import { trailOf } from '../../../gateway/exchange/trail.ts';
import { createChargesOf } from '../../../gateway/limits/charges.ts';
import {
  createRedisCounterStore,
  type RedisStore,
} from '../../../gateway/limits/counters/redis/redis-counter-store.ts';
import { createLimit } from '../../../gateway/limits/limit.ts';
import { retryAfterSecondsOf } from '../../../gateway/limits/limit-headers.ts';
import type { LimitRules } from '../../../gateway/limits/limit-rules.ts';
import type { Awaitable } from '../../../gateway/shared/awaitable.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { caller, operation, organization, permitted, rule, rules } from '../../unit/limits/parties.ts';
import { busiestSpan, createReference } from '../../unit/limits/reference-model.ts';
import { LIMIT_RUNS, START_MS } from '../../unit/limits/scenarios.ts';

const SKEW_MAX_MS = 30_000;

interface Step {
  readonly advanceMs: number;
  readonly instance: number;
  readonly key: number;
  readonly operation: Operation;
}

interface Scenario {
  readonly rules: LimitRules;
  /** By how much the clock of each instance is wrong. */
  readonly skewsMs: readonly number[];
  readonly steps: readonly Step[];
}

let redis: TestRedis;
let stores: readonly RedisStore[];
let clockMs = START_MS;
let skewsMs: readonly number[] = [];
const clockOf = (instance: number) => () => clockMs + (skewsMs[instance] ?? 0);

before(async () => {
  redis = await startRedis();
  const settings = { url: redis.url, whenStoreIsAway: () => 'refuse' as const, deadlineMs: 5_000 };
  stores = [0, 1, 2, 3].map((instance) =>
    createRedisCounterStore({ ...settings, now: clockOf(instance), serverClock: () => clockMs }),
  );
  await Promise.all(stores.map(({ firstAttempt }) => firstAttempt));
});

after(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await redis.stop();
});

const someRule = fc
  .record({ requests: fc.integer({ min: 1, max: 20 }), windowSeconds: fc.integer({ min: 10, max: 60 }) })
  .map(({ requests, windowSeconds }) => rule(requests, { windowSeconds }));

/** Under one limit, or under two that count different subjects. */
const someOperation = fc
  .record({ cost: fc.integer({ min: 0, max: 5 }), extraLimit: fc.constantFrom(undefined, 'writes') })
  .map((counting) => operation('any', counting));

const someSteps = fc.array(
  fc.record({
    advanceMs: fc.oneof(
      { weight: 6, arbitrary: fc.integer({ min: 0, max: 9 }).map((tenths) => tenths * 100) },
      { weight: 2, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
    ),
    instance: fc.nat(),
    key: fc.nat({ max: 1 }),
    operation: someOperation,
  }),
  { minLength: 10, maxLength: 60 },
);

const scenarios: fc.Arbitrary<Scenario> = fc
  .record({
    tier: someRule,
    writes: someRule,
    enforce: fc.boolean(),
    skewsMs: fc.array(fc.integer({ min: -SKEW_MAX_MS, max: SKEW_MAX_MS }), { minLength: 2, maxLength: 4 }),
    steps: someSteps,
  })
  .map(({ tier, writes, enforce, ...scenario }) => ({
    ...scenario,
    rules: rules({ tiers: { standard: tier }, extra: { writes: { ...writes, enforce, per: 'key' } } }),
  }));

/** Callers are new objects each time: no remembered state of them hides the reply of Redis. */
function createCallers(): (key: number) => Caller {
  const owner = organization(`org_${randomUUID()}`);
  return (key) => caller(`key_${key}`, owner);
}

function start(scenario: Scenario): ((request: Permitted) => Awaitable<Counted>)[] {
  clockMs = START_MS;
  skewsMs = scenario.skewsMs;
  return skewsMs.map((_, instance) =>
    createLimit({ store: stores[instance] as RedisStore, rules: scenario.rules, now: clockOf(instance) }),
  );
}

/** The result of the stage: the wait of a refused client, or undefined if it was admitted. */
async function retryAfterOf(
  limit: (request: Permitted) => Awaitable<Counted>,
  request: Permitted,
): Promise<number | undefined> {
  try {
    await limit(request);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof GatewayError && error.code === 'rate_limited');
    return error.details.retryAfterSeconds;
  }
}

test('each instance decides as the model does by the clock of the store, and no span sees more than a limit', async () => {
  const property = fc.asyncProperty(scenarios, async (scenario) => {
    const stages = start(scenario);
    const callerOf = createCallers();
    const chargesOf = createChargesOf(scenario.rules);
    const reference = createReference();
    const asked = new Map<string, { readonly windowMs: number; readonly requests: number }>();
    for (const { advanceMs, instance, key, operation } of scenario.steps) {
      clockMs += advanceMs;
      const request = permitted(callerOf(key), operation);
      const { charges } = chargesOf(request.caller, operation, request.clientAddress);
      for (const charge of charges) asked.set(charge.counter, charge);
      const expected = reference.decide(charges, clockMs);
      const told = await retryAfterOf(stages[instance % stages.length] as (typeof stages)[0], request);
      assert.equal(told, expected.outcome === 'refused' ? retryAfterSecondsOf(expected.waitMs) : undefined);
      const { limits, limitDecidedAtMs } = trailOf(request.trail);
      assert.deepEqual(limits?.states, expected.states);
      assert.equal(limitDecidedAtMs, expected.decidedAtMs);
    }
    for (const [key, { windowMs, requests }] of asked) {
      assert.ok(busiestSpan(reference.admissionsOf(key), windowMs) <= requests);
    }
  });
  await fc.assert(property, { numRuns: 50 * LIMIT_RUNS });
});

test('decided at the same moment, in any order, they admit together as many as the model', async () => {
  const listThings = operation('listThings');
  const property = fc.asyncProperty(scenarios, async (scenario) => {
    const stages = start(scenario);
    const callerOf = createCallers();
    const chargesOf = createChargesOf(scenario.rules);
    const reference = createReference();
    for (const { advanceMs } of scenario.steps.slice(0, 15)) {
      clockMs += advanceMs;
      const crowd = Array.from({ length: 12 }, (_, client) => permitted(callerOf(client % 2), listThings));
      const told = await Promise.all(
        crowd.map((request, client) => retryAfterOf(stages[client % stages.length] as (typeof stages)[0], request)),
      );
      const expected = crowd.map(({ caller }) => reference.decide(chargesOf(caller, listThings, '').charges, clockMs));
      assert.equal(
        told.filter((wait) => wait === undefined).length,
        expected.filter(({ outcome }) => outcome === 'admitted').length,
      );
    }
  });
  await fc.assert(property, { numRuns: 20 * LIMIT_RUNS });
});

test('a burst half a second before the minute ends and one half a second after it admit the limit once', async () => {
  const settings = { rules: rules(), skewsMs: [-SKEW_MAX_MS, -500, 500, SKEW_MAX_MS], steps: [] };
  const stages = start(settings);
  const callerOf = createCallers();
  const listThings = operation('listThings');

  async function admittedAt(ms: number): Promise<number> {
    clockMs = START_MS + ms;
    const crowd = Array.from({ length: 300 }, (_, client) => {
      const limit = stages[client % stages.length] as (typeof stages)[0];
      return retryAfterOf(limit, permitted(callerOf(client), listThings));
    });
    return (await Promise.all(crowd)).filter((wait) => wait === undefined).length;
  }

  assert.equal(START_MS % 60_000, 0);
  assert.deepEqual(
    [await admittedAt(59_500), await admittedAt(60_500), await admittedAt(119_499), await admittedAt(119_500)],
    [100, 0, 0, 100],
  );
});
