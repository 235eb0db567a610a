// A store on a Redis that the test may damage, and its decisions: the set-up of the tests about outages.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Charge,
  ChargeMemory,
  CounterStoreStatus,
  LimitDecision,
  OutagePolicy,
} from '../../../gateway/limits/counters/counter-store.ts';
import {
  createRedisCounterStore,
  type RedisCounterStoreOptions,
  type RedisStore,
} from '../../../gateway/limits/counters/redis/redis-counter-store.ts';
import { startRunningClock } from '../../support/stand-still.ts';
import { charge } from '../../unit/limits/scenarios.ts';

/** 100 ms are promised to a process that runs; the rest is for a test machine that is busy with other tests. */
export const WAIT_MAX_MS = 300;
const ROUNDS_MAX = 10;

export interface Outage {
  readonly store: RedisStore;
  /** The reports of the store, in order. */
  readonly changes: readonly CounterStoreStatus[];
  policy: OutagePolicy;
  /** Clients that send at once, and the longest wait of them. */
  ask(charges: readonly Charge[], clients: number): Promise<{ verdicts: LimitDecision[]; longestMs: number }>;
  untilUp(): Promise<void>;
}

export async function openStore(url: string, options: Partial<RedisCounterStoreOptions> = {}): Promise<Outage> {
  const changes: CounterStoreStatus[] = [];
  const onChange = (status: CounterStoreStatus) => void changes.push(status);
  const whenStoreIsAway = () => outage.policy;
  const store = createRedisCounterStore({ url, whenStoreIsAway, now: Date.now, onChange, ...options });

  /** As the gateway keeps them, once per list of charges. */
  const notes = new WeakMap<readonly Charge[], ChargeMemory>();
  function notesOn(charges: readonly Charge[]): ChargeMemory {
    const known = notes.get(charges) ?? { sharedCharges: charges, encoded: '', refusal: undefined };
    notes.set(charges, known);
    return known;
  }

  async function ask(
    charges: readonly Charge[],
    clients: number,
  ): Promise<{ verdicts: LimitDecision[]; longestMs: number }> {
    const clock = startRunningClock();
    let longestMs = 0;
    const asked = Array.from({ length: clients }, async () => {
      const verdict = await store.decide(charges, notesOn(charges));
      longestMs = Math.max(longestMs, clock.ms());
      return verdict;
    });
    const verdicts = await Promise.all(asked);
    clock.stop();
    return { verdicts, longestMs };
  }

  async function untilUp(): Promise<void> {
    const endMs = Date.now() + 5_000;
    while (store.status().state !== 'up') {
      assert.ok(Date.now() < endMs, 'Redis did not come back');
      await sleep(10);
    }
  }

  const outage: Outage = { store, changes, policy: 'local', ask, untilUp };
  await store.firstAttempt;
  return outage;
}

/** Asks counters that no other test uses until Redis has decided: on a busy machine it may answer later than the deadline. */
export async function askUntilRedisDecides(
  { ask, untilUp }: Outage,
  requests: number,
  clients: number,
): Promise<{ charges: Charge[]; verdicts: LimitDecision[] }> {
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    await untilUp();
    const charges = limitOf(requests);
    const { verdicts } = await ask(charges, clients);
    if (verdicts.every(({ source }) => source === 'redis')) return { charges, verdicts };
  }
  return assert.fail(`Redis did not decide in ${ROUNDS_MAX} rounds`);
}

/** A counter that no other test uses. */
export function limitOf(requests: number): Charge[] {
  return [charge({ counter: `rl:{org_${randomUUID()}}:organization`, requests })];
}

export function countOf(verdicts: readonly LimitDecision[], outcome: LimitDecision['outcome']): number {
  return verdicts.filter((one) => one.outcome === outcome).length;
}
