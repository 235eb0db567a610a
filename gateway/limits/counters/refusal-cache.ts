// Caches refusals that certainly still hold. Only time frees units of a window, so a request that has to wait is refused until its wait is
// over. Until then, this process decides without Redis.

import type { ChargeMemory, LimitDecision } from './counter-store.ts';

/** The source that decisions of this cache name. */
const SOURCE = 'known';

/** A cache of refusals, kept in the memory of their charges. */
export interface RefusalCache {
  /** Returns the refusal that still holds for these charges, with its times reduced by the time since. */
  get(memory: ChargeMemory): LimitDecision | undefined;
  /**
   * Stores a decision if it is a refusal.
   *
   * @param asked what `clearings` returned when the store was asked: a reset may have come after the decision and before its arrival
   */
  put(memory: ChargeMemory, decision: LimitDecision, asked?: number): void;
  /** Number of times that the cache was cleared. */
  clearings(): number;
  /** Call it when counters were reset: Redis has to decide again. */
  clear(): void;
}

/**
 * A memory belongs to a caller, or to a block of addresses, and to a kind of operation. New rules make new memories, which empties the cache.
 *
 * @param monotonicMs a clock that never goes back; only spans are measured
 */
export function createRefusalCache(monotonicMs: () => number): RefusalCache {
  let clearings = 0;
  return {
    get(memory) {
      const { refusal } = memory;
      if (refusal === undefined) return undefined;
      // The elapsed time is rounded up, so that a client that returns exactly at the announced time is not refused from the cache.
      const elapsedMs = Math.ceil(monotonicMs() - refusal.cachedAtMs);
      if (refusal.clearings === clearings && elapsedMs < refusal.decision.waitMs) {
        return afterElapsed(refusal.decision, elapsedMs);
      }
      memory.refusal = undefined;
      return undefined;
    },
    put(memory, decision, asked = clearings) {
      if (decision.outcome === 'refused' && asked === clearings && isWithinWindow(decision))
        memory.refusal = { decision, cachedAtMs: monotonicMs(), clearings };
    },
    clearings: () => clearings,
    clear() {
      clearings += 1;
    },
  };
}

/**
 * Whether the wait is possible. A wait beyond every window comes from a clock of Redis that was set back, and is over when the clock is
 * right again.
 */
function isWithinWindow({ states, waitMs }: LimitDecision): boolean {
  return states.some(({ windowSeconds }) => waitMs <= windowSeconds * 1000);
}

/** Returns the same refusal, as it is some time later. */
function afterElapsed(decision: LimitDecision, elapsedMs: number): LimitDecision {
  return {
    ...decision,
    states: decision.states.map((state) => ({ ...state, resetMs: Math.max(0, state.resetMs - elapsedMs) })),
    waitMs: decision.waitMs - elapsedMs,
    decidedAtMs: decision.decidedAtMs + elapsedMs,
    source: SOURCE,
  };
}
