// Pure: converts the figures of a store for one request into a verdict. Both stores use it, so that clients see no difference between them.

import type { QuotaState } from '../exchange.ts';
import type { Charge, LimitDecision } from './store.ts';

/** Figures per charge, flat: units remaining, milliseconds until more are freed, milliseconds until the cost fits. */
export const FIGURES_PER_CHARGE = 3;

const NONE: readonly never[] = Object.freeze([]);

/** The verdict on a request whose figures begin at `offset`. */
export function toVerdict(
  charges: readonly Charge[],
  figures: readonly number[],
  offset: number,
  decidedAtMs: number,
  source: string,
): LimitDecision {
  const states: QuotaState[] = [];
  let violated: string[] | undefined;
  let shadowRefusals: string[] | undefined;
  let longestWaitMs = 0;
  for (let index = 0; index < charges.length; index += 1) {
    const { policy, requests, windowSeconds, enforce } = charges[index] as Charge;
    const at = offset + index * FIGURES_PER_CHARGE;
    const remaining = figures[at] as number;
    const waitMs = figures[at + 2] as number;
    // With nothing left, a client only needs to know when its request fits again.
    const resetMs = waitMs > 0 && remaining === 0 ? waitMs : (figures[at + 1] as number);
    states.push({ policy, limit: requests, windowSeconds, remaining, resetMs });
    if (waitMs === 0) continue;
    if (enforce) {
      violated = [...(violated ?? NONE), policy];
      longestWaitMs = Math.max(longestWaitMs, waitMs);
    } else {
      shadowRefusals = [...(shadowRefusals ?? NONE), policy];
    }
  }
  return {
    outcome: violated === undefined ? 'admitted' : 'refused',
    states,
    violated: violated ?? NONE,
    shadowRefusals: shadowRefusals ?? NONE,
    waitMs: longestWaitMs,
    decidedAtMs,
    source,
  };
}

/** The verdict without counting: every request is admitted, or every request is refused. */
export function uncounted(outcome: 'admitted' | 'undecided', decidedAtMs: number, source: string): LimitDecision {
  return { outcome, states: NONE, violated: NONE, shadowRefusals: NONE, waitMs: 0, decidedAtMs, source };
}
