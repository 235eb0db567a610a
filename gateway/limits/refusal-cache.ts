// Caches refusals that are certain to hold: only time frees units of a window, so a request that has to wait is refused until its wait is
// over. Until then, this process decides without Redis.

import type { Charge, LimitDecision } from './store.ts';

/** Source of decisions from this cache. */
const SOURCE = 'known';

export interface RefusalCache {
  /** Returns the refusal still in force for these charges, with its times reduced by the time since. */
  get(charges: readonly Charge[]): LimitDecision | undefined;
  /** Stores a decision if it is a refusal. */
  put(charges: readonly Charge[], decision: LimitDecision): void;
  /** Counters were reset: Redis has to decide again. */
  clear(): void;
}

interface CachedRefusal {
  readonly decision: LimitDecision;
  readonly cachedAtMs: number;
}

/**
 * Charges are built once per caller and kind of operation, and an entry is dropped with its charges. Charges of anonymous clients are
 * built per request, so that they are never found here; new rules create new charges, which have no entry.
 *
 * @param monotonicMs a monotonic clock, because only spans are measured
 */
export function createRefusalCache(monotonicMs: () => number): RefusalCache {
  let cached = new WeakMap<readonly Charge[], CachedRefusal>();
  return {
    get(charges) {
      const refusal = cached.get(charges);
      if (refusal === undefined) return undefined;
      // Rounded up: a client that returns exactly at the announced time must not be refused from the cache.
      const elapsedMs = Math.ceil(monotonicMs() - refusal.cachedAtMs);
      if (elapsedMs < refusal.decision.waitMs) return afterElapsed(refusal.decision, elapsedMs);
      cached.delete(charges);
      return undefined;
    },
    put(charges, decision) {
      if (decision.outcome === 'refused') cached.set(charges, { decision, cachedAtMs: monotonicMs() });
    },
    clear() {
      cached = new WeakMap();
    },
  };
}

/** The same refusal, some time later. */
function afterElapsed(decision: LimitDecision, elapsedMs: number): LimitDecision {
  return {
    ...decision,
    states: decision.states.map((state) => ({ ...state, resetMs: Math.max(0, state.resetMs - elapsedMs) })),
    waitMs: decision.waitMs - elapsedMs,
    decidedAtMs: decision.decidedAtMs + elapsedMs,
    source: SOURCE,
  };
}
