// Caches refusals that are certain to hold: only time frees units of a window, so a request that has to wait is refused until its wait is
// over. Until then, this process decides without Redis.

import type { ChargeNotes, LimitDecision } from './counter-store.ts';

/** Source of decisions from this cache. */
const SOURCE = 'known';

/** Refusals that are certain to hold, in the notes of their charges. */
export interface RefusalCache {
  /** Returns the refusal still in force for the charges of these notes, with its times reduced by the time since. */
  get(notes: ChargeNotes): LimitDecision | undefined;
  /** Stores a decision if it is a refusal. */
  put(notes: ChargeNotes, decision: LimitDecision): void;
  /** Counters were reset: Redis has to decide again. */
  clear(): void;
}

/**
 * Notes belong to a caller and a kind of operation. Those of anonymous clients are made per request, so that nothing is found in them; new
 * rules create new charges and notes.
 *
 * @param monotonicMs a monotonic clock, because only spans are measured
 */
export function createRefusalCache(monotonicMs: () => number): RefusalCache {
  let clearings = 0;
  return {
    get(notes) {
      const { refusal } = notes;
      if (refusal === undefined) return undefined;
      // Rounded up: a client that returns exactly at the announced time must not be refused from the cache.
      const elapsedMs = Math.ceil(monotonicMs() - refusal.cachedAtMs);
      if (refusal.clearings === clearings && elapsedMs < refusal.decision.waitMs) {
        return afterElapsed(refusal.decision, elapsedMs);
      }
      notes.refusal = undefined;
      return undefined;
    },
    put(notes, decision) {
      if (decision.outcome === 'refused' && isWithinWindow(decision))
        notes.refusal = { decision, cachedAtMs: monotonicMs(), clearings };
    },
    clear() {
      clearings += 1;
    },
  };
}

/** A wait beyond every window comes from a clock of Redis that was set back, and is over when the clock is right again. */
function isWithinWindow({ states, waitMs }: LimitDecision): boolean {
  return states.some(({ windowSeconds }) => waitMs <= windowSeconds * 1000);
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
