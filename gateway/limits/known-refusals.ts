// Refusals that are certain to hold: what was admitted leaves a window by time alone, so a request that has to wait will be refused
// until it has waited. Until then nobody needs to be asked.

import type { Charge, LimitDecision } from './store.ts';

/** What verdicts from here name as their source. */
const SOURCE = 'known';

export interface KnownRefusals {
  /** The refusal that is still in force for these charges, with times as they are by now. */
  find(charges: readonly Charge[]): LimitDecision | undefined;
  /** Keeps a verdict if it is a refusal. */
  note(charges: readonly Charge[], verdict: LimitDecision): void;
  /** Counters were reset: whoever was refused is asked about once more. */
  forgetAll(): void;
}

interface Known {
  readonly verdict: LimitDecision;
  readonly notedAtMs: number;
}

/**
 * Charges are built once per caller and kind of operation and dropped with them, and so is what is known here; new rules make new
 * charges, which nothing is known about. `monotonicMs` is a clock that nobody sets: only spans are taken from it.
 */
export function createKnownRefusals(monotonicMs: () => number): KnownRefusals {
  let known = new WeakMap<readonly Charge[], Known>();
  return {
    find(charges) {
      const refusal = known.get(charges);
      if (refusal === undefined) return undefined;
      // Rounded up: whoever comes back at the very moment it was told must not be refused from memory.
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

/** The same refusal some time later. */
function later(verdict: LimitDecision, elapsedMs: number): LimitDecision {
  return {
    ...verdict,
    states: verdict.states.map((state) => ({ ...state, resetMs: Math.max(0, state.resetMs - elapsedMs) })),
    waitMs: verdict.waitMs - elapsedMs,
    decidedAtMs: verdict.decidedAtMs + elapsedMs,
    source: SOURCE,
  };
}
