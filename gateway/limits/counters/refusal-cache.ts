// Caches refusals, which this process then repeats without Redis. A cached refusal is certain until its wait is over, because only time
// frees the units of a window, and other requests can only make the wait longer.

import type { ChargeMemory, LimitDecision } from './counter-store.ts';

/** The source that decisions of this cache name. */
const SOURCE = 'known';

/** A cache of refusals, kept in the memory of their charges. */
export interface RefusalCache {
  /** Returns the cached refusal of these charges if it still holds. Its waits are shorter by the age of the refusal. */
  get(memory: ChargeMemory): LimitDecision | undefined;
  /**
   * Stores a decision if it is a refusal.
   *
   * @param clearingsBefore the number of clearings when the store was asked. A refusal from before a reset of the counters is not cached
   */
  put(memory: ChargeMemory, decision: LimitDecision, clearingsBefore?: number): void;
  /** Number of times that the cache was cleared. */
  clearings(): number;
  /** Call it when counters were reset, because Redis has to decide again. */
  clear(): void;
}

/**
 * Creates the cache. Each refusal is stored in the `ChargeMemory` of its charges. New rules create new memories, so no refusal outlasts its
 * rules.
 *
 * @param monotonicMs a clock that never goes back; only spans are measured
 */
export function createRefusalCache(monotonicMs: () => number): RefusalCache {
  let clearings = 0;
  return {
    get(memory) {
      const { refusal } = memory;
      if (refusal === undefined) return undefined;
      // The elapsed time is rounded up, because a client that returns exactly at the announced time must not be refused from the cache.
      const elapsedMs = Math.ceil(monotonicMs() - refusal.cachedAtMs);
      if (refusal.clearings === clearings && elapsedMs < refusal.decision.waitMs) {
        return afterElapsed(refusal.decision, elapsedMs);
      }
      memory.refusal = undefined;
      return undefined;
    },
    put(memory, decision, clearingsBefore = clearings) {
      if (decision.outcome === 'refused' && clearingsBefore === clearings && isWithinWindow(decision))
        memory.refusal = { decision, cachedAtMs: monotonicMs(), clearings };
    },
    clearings: () => clearings,
    clear() {
      clearings += 1;
    },
  };
}

/**
 * Whether a wait can be real, because it is no longer than one of the windows. A longer wait means that the clock of Redis was set back.
 * Such a refusal is not cached, because it ends as soon as the clock is right again.
 */
function isWithinWindow({ states, waitMs }: LimitDecision): boolean {
  return states.some(({ windowSeconds }) => waitMs <= windowSeconds * 1000);
}

/** Returns the refusal as it is after this time. */
function afterElapsed(decision: LimitDecision, elapsedMs: number): LimitDecision {
  return {
    ...decision,
    states: decision.states.map((state) => ({ ...state, resetMs: Math.max(0, state.resetMs - elapsedMs) })),
    waitMs: decision.waitMs - elapsedMs,
    decidedAtMs: decision.decidedAtMs + elapsedMs,
    source: SOURCE,
  };
}
