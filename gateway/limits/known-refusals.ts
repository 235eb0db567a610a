// Caches refusals that are certain to hold: only time frees units of a window, so a request that has to wait is refused until its wait is
// over. Until then, this process decides without Redis.

import type { Charge, LimitDecision } from './store.ts';

/** Source of verdicts from this cache. */
const SOURCE = 'known';

export interface KnownRefusals {
  /** Returns the refusal still in force for these charges, with its times reduced by the time since. */
  find(charges: readonly Charge[]): LimitDecision | undefined;
  /** Stores a verdict if it is a refusal. */
  note(charges: readonly Charge[], verdict: LimitDecision): void;
  /** Counters were reset: Redis has to decide again. */
  forgetAll(): void;
}

interface Known {
  readonly verdict: LimitDecision;
  readonly notedAtMs: number;
}

/**
 * Charges are built once per caller and kind of operation; entries are dropped with their charges, and new rules create new charges without
 * entries. `monotonicMs` is a monotonic clock, because only spans are measured.
 */
export function createKnownRefusals(monotonicMs: () => number): KnownRefusals {
  let known = new WeakMap<readonly Charge[], Known>();
  return {
    find(charges) {
      const refusal = known.get(charges);
      if (refusal === undefined) return undefined;
      // Rounded up: a client that returns exactly at the announced time must not be refused from the cache.
      const elapsedMs = Math.ceil(monotonicMs() - refusal.notedAtMs);
      if (elapsedMs < refusal.verdict.waitMs) return later(refusal.verdict, elapsedMs);
      known.delete(charges);
      return undefined;
    },
    note(charges, verdict) {
      if (verdict.outcome === 'refused') known.set(charges, { verdict, notedAtMs: monotonicMs() });
    },
    forgetAll() {
      known = new WeakMap();
    },
  };
}

/** The same refusal, some time later. */
function later(verdict: LimitDecision, elapsedMs: number): LimitDecision {
  return {
    ...verdict,
    states: verdict.states.map((state) => ({ ...state, resetMs: Math.max(0, state.resetMs - elapsedMs) })),
    waitMs: verdict.waitMs - elapsedMs,
    decidedAtMs: verdict.decidedAtMs + elapsedMs,
    source: SOURCE,
  };
}
