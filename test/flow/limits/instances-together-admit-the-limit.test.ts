// For any number of instances and of clients at once, a limit is one limit. Real time, real server clock.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Charge, LimitDecision } from '../../../gateway/limits/counters/counter-store.ts';
import { createRedisCounterStore } from '../../../gateway/limits/counters/redis/redis-counter-store.ts';
import { startRedis } from '../../support/redis.ts';
import { busiestSpan } from '../../unit/limits/reference-model.ts';
import { charge } from '../../unit/limits/scenarios.ts';

const redis = await startRedis();
const whenStoreIsAway = () => 'refuse' as const;
const settings = { url: redis.url, whenStoreIsAway, now: Date.now, deadlineMs: 5_000 };
const stores = [1, 2, 3, 4].map(() => createRedisCounterStore(settings));
await Promise.all(stores.map(({ firstAttempt }) => firstAttempt));

after(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await redis.stop();
});

/** All organizations send at the same time, spread over the instances. */
async function ask(clients: number, charges: readonly Charge[]): Promise<LimitDecision[]> {
  const asked = Array.from({ length: clients }, (_, client) => stores[client % stores.length]?.decide(charges));
  return (await Promise.all(asked)).filter((verdict) => verdict !== undefined);
}

const admittedOf = (verdicts: readonly LimitDecision[]) => verdicts.filter(({ outcome }) => outcome === 'admitted');
/**
 * At any time the window holds at most the limit, and each refusal found it full. By the clock of the decisions, however late they come.
 */
function assertExact(verdicts: readonly LimitDecision[], { requests, windowMs }: Charge): void {
  const admissions = admittedOf(verdicts).map(({ decidedAtMs }) => ({ atMs: decidedAtMs, cost: 1 }));
  assert.equal(busiestSpan(admissions, windowMs), requests);
  const refused = verdicts.filter(({ outcome }) => outcome === 'refused');
  for (const atMs of new Set(refused.map(({ decidedAtMs }) => decidedAtMs))) {
    const held = admissions.filter((one) => one.atMs <= atMs && one.atMs + windowMs > atMs);
    assert.equal(held.length, requests, `refused at ${atMs}`);
  }
}

const keyOf = (name: string) => `rl:{org_${randomUUID()}}:${name}`;

test('fifty clients on four instances are admitted exactly up to the limit', async () => {
  const charges = [charge({ counter: keyOf('organization'), requests: 100 })];
  const rounds = await Promise.all([1, 2, 3, 4, 5, 6].map(() => ask(50, charges)));
  assert.equal(admittedOf(rounds.flat()).length, 100);
});

test('under lasting overload no span sees more than the limit, and none is refused while there is room', async () => {
  const limit = charge({ counter: keyOf('organization'), requests: 40, windowSeconds: 1 });
  const verdicts: LimitDecision[] = [];
  while (admittedOf(verdicts).length < 100) {
    verdicts.push(...(await ask(20, [limit])));
    await sleep(2);
  }
  assertExact(verdicts, limit);
});

test('a burst before the border of a window and one after it admit the limit once', async () => {
  const limit = charge({ counter: keyOf('organization'), requests: 30, windowSeconds: 1 });
  await sleep(900 - (Date.now() % 1_000) + (Date.now() % 1_000 > 900 ? 1_000 : 0));
  const late = await ask(50, [limit]);
  await sleep(200);
  const early = await ask(50, [limit]);
  assertExact([...late, ...early], limit);
});

test('refusals spend nothing, and waiting as long as they say admits', async () => {
  const limit = charge({ counter: keyOf('organization'), requests: 5, windowSeconds: 1 });
  const verdicts = await ask(205, [limit]);
  const refusal = verdicts.findLast(({ outcome }) => outcome === 'refused') as LimitDecision;
  const admittedAtMs = refusal.decidedAtMs + refusal.waitMs;
  await sleep(admittedAtMs - 150 - Date.now());
  verdicts.push(...(await ask(1, [limit])));
  await sleep(admittedAtMs + 5 - Date.now());
  const [next] = (await ask(1, [limit])) as [LimitDecision];
  assert.equal(next.outcome, 'admitted');
  // Instances that are busy do not decide in one and the same millisecond.
  const lastMs = Math.max(...admittedOf(verdicts).map(({ decidedAtMs }) => decidedAtMs));
  await sleep(lastMs + 1_000 + 5 - Date.now());
  verdicts.push(next, ...(await ask(10, [limit])));
  assertExact(verdicts, limit);
});

test('with two limits all or nothing is spent', async () => {
  const wide = charge({ counter: keyOf('organization'), requests: 100 });
  const narrow = charge({ counter: wide.counter.replace('organization', 'extra'), policy: 'exports', requests: 10 });
  const both = await ask(50, [wide, narrow]);
  assert.equal(admittedOf(both).length, 10);
  assert.deepEqual(both.find(({ outcome }) => outcome === 'refused')?.violated, ['exports']);
  const [alone] = await ask(1, [wide]);
  assert.equal(alone?.states[0]?.remaining, 100 - 10 - 1);
});
