// The script in Redis and the window in the process are one algorithm written twice: the same traffic gets the same decisions. Both are
// compared with one reference model: the process in test/unit/limits/process-store.test.ts, Redis here.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { createProcessStore } from '../../../gateway/limits/counters/process-store.ts';
import {
  createRedisCounterStore,
  type RedisStore,
} from '../../../gateway/limits/counters/redis/redis-counter-store.ts';
import { startRedis } from '../../support/redis.ts';
import { busiestSpan, createReference } from '../../unit/limits/reference-model.ts';
import { charge, crowds, LIMIT_RUNS, type Scenario, START_MS, scenarios } from '../../unit/limits/scenarios.ts';

let clockMs = START_MS;

const redis = await startRedis();
const whenStoreIsAway = () => 'refuse' as const;
const settings = { url: redis.url, whenStoreIsAway, now: Date.now, deadlineMs: 5_000 };
const stores = [1, 2, 3].map(() => createRedisCounterStore({ ...settings, serverClock: () => clockMs }));
await Promise.all(stores.map(({ firstAttempt }) => firstAttempt));

after(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await redis.stop();
});

/** Several instances take turns; the requests of one step travel in one command. */
async function replay(
  { steps }: Scenario,
  expect: (charges: Scenario['limits'], nowMs: number) => object,
): Promise<void> {
  clockMs = START_MS;
  for (const [turn, { advanceMs, requests }] of steps.entries()) {
    clockMs += advanceMs;
    const store = stores[turn % stores.length] as RedisStore;
    const verdicts = await Promise.all(requests.map((charges) => store.decide(charges)));
    for (const [index, { source, ...verdict }] of verdicts.entries()) {
      assert.equal(source, 'redis');
      assert.deepEqual(verdict, expect(requests[index] as Scenario['limits'], clockMs));
    }
  }
}

const tagOf = () => `org_${randomUUID()}`;

test('Redis answers as the reference model does, and no span sees more than the limit, even if its clock is set back', async () => {
  const property = fc.asyncProperty(scenarios(tagOf, 30_000), async (scenario) => {
    const reference = createReference();
    await replay(scenario, reference.decide);
    for (const { counter, requests, windowMs } of scenario.limits) {
      assert.ok(busiestSpan(reference.admissionsOf(counter), windowMs) <= requests);
    }
  });
  await fc.assert(property, { numRuns: 100 * LIMIT_RUNS });
});

test('Redis merges entries as the process does, while crowds come and go', async () => {
  const limit = { requests: 300, windowSeconds: 20 };
  const property = fc.asyncProperty(crowds, async (gapsMs) => {
    clockMs = START_MS;
    const store = createProcessStore({ now: () => clockMs });
    const charges = [charge({ ...limit, counter: `rl:{${tagOf()}}:organization` })];
    for (const [turn, gapMs] of gapsMs.entries()) {
      clockMs += gapMs;
      const { source, ...verdict } = await (stores[turn % stores.length] as RedisStore).decide(charges);
      // Known refusals are taken at a clock that does not know of this one.
      for (const { clearRefusals } of stores) clearRefusals();
      assert.equal(source, 'redis');
      assert.deepEqual(verdict, (({ source: _, ...expected }) => expected)(store.decide(charges)));
    }
  });
  // Looking for a smaller crowd that fails as well would take minutes.
  await fc.assert(property, { numRuns: 10 * LIMIT_RUNS, endOnFailure: true });
});

test('thousands of decisions in one turn are all answered, each with its own', async () => {
  clockMs = START_MS;
  const store = stores[0] as RedisStore;
  const tag = tagOf();
  const counters = Array.from({ length: 3_000 }, (_, index) => `rl:{${tag}}:${index % 1_000}`);
  const verdicts = await Promise.all(counters.map((counter) => store.decide([charge({ counter, requests: 2 })])));
  assert.deepEqual(
    [0, 1_000, 2_000].map((index) => verdicts[index]?.states[0]?.remaining),
    [1, 0, 0],
  );
  assert.equal(verdicts.filter(({ outcome }) => outcome === 'admitted').length, 2_000);
});
