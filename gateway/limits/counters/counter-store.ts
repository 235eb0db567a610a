// The interface of every counter store, and the function by which each store turns its figures into a decision. `open-counter-store.ts`
// lists the stores.

import type { LimitState } from '../../exchange/findings.ts';
import type { Awaitable } from '../../shared/awaitable.ts';

/** How to decide while Redis cannot be reached: count in this process, admit all requests, or refuse all. */
export type OutagePolicy = 'local' | 'allow' | 'refuse';

/** One counter that a request is charged to. Built once per caller, or block of addresses, and kind of operation. */
export interface Charge {
  /** Name of the counter; equal on every instance and after reloads of the rules. */
  readonly counter: string;
  /** Name of the limit, as clients see it. */
  readonly policy: string;
  readonly requests: number;
  readonly windowSeconds: number;
  readonly windowMs: number;
  readonly cost: number;
  /** Whether the limit refuses. A shadow limit counts and reports, but never refuses. */
  readonly enforce: boolean;
}

/**
 * The state that a store keeps with the charges of a caller between two requests. It is a part of the object with the charges, because a
 * separate map would cost a look-up of about 0.1 µs.
 */
export interface ChargeMemory {
  /**
   * The charges of the first caller under the same rules. The charges of other callers differ only in the names of their counters. Read
   * everything except the names from here, because an object that all requests read stays in the processor's cache.
   */
  readonly sharedCharges: readonly Charge[];
  /** The charges as the script in Redis reads them; empty before the first request. */
  encoded: string;
  /** The last refusal, which may still hold. */
  refusal: CachedRefusal | undefined;
}

/** A refusal, with the facts by which `refusal-cache.ts` decides whether it still holds. */
interface CachedRefusal {
  readonly decision: LimitDecision;
  readonly cachedAtMs: number;
  /** Number of times that the cache had been cleared when the store was asked. */
  readonly clearings: number;
}

export interface LimitDecision {
  /** `undecided` means that the store cannot be reached and the outage policy is `refuse`. */
  readonly outcome: 'admitted' | 'refused' | 'undecided';
  /** One per charge, in their order; empty if no limit counted the request. */
  readonly states: readonly LimitState[];
  /** Enforced limits that refuse the request. */
  readonly violated: readonly string[];
  /** Shadow limits that would refuse the request. */
  readonly shadowRefusals: readonly string[];
  /** Milliseconds until all violated limits have room, if no other request is admitted. */
  readonly waitMs: number;
  /** The time of the decision by the clock of the store, in epoch milliseconds. */
  readonly decidedAtMs: number;
  /** The name of the store, `known` for a cached refusal, or the outage policy while the store cannot be reached. */
  readonly source: string;
}

export interface CounterStoreStatus {
  /** Name of the store, such as `process` or `redis`. */
  readonly kind: string;
  readonly state: 'up' | 'away';
  /** Epoch milliseconds of the last change. */
  readonly since: number;
  /** The policy in force while the store cannot be reached; undefined while it can. */
  readonly policyInForce: OutagePolicy | undefined;
  /** The reason why the store cannot be reached, for the log. */
  readonly reason: string | undefined;
}

export interface CounterStore {
  /**
   * Decides about all charges of one request together. If every enforced limit has room, all charges are counted; otherwise none is
   * counted.
   *
   * @param memory the memory of these charges; without it, the store remembers nothing about them
   */
  decide(charges: readonly Charge[], memory?: ChargeMemory): Awaitable<LimitDecision>;
  /** Deletes the counters of these names, which share one hash tag. Rejects while the store cannot be reached. */
  reset(counters: readonly string[]): Awaitable<void>;
  /**
   * Call it when a window has become longer. Without it, units that are already counted expire with the shorter window. With it, each of
   * them counts until `windowMs` after its admission. Rejects while the store cannot be reached.
   */
  extendExpiry(windowMs: number): Awaitable<void>;
  /** Drops the cached refusals. Call it when counters were reset, because a refused caller may have units again. */
  clearRefusals(): void;
  status(): CounterStoreStatus;
  close(): Promise<void>;
}

/** Figures per charge: units remaining, milliseconds until more are freed, milliseconds until the cost fits. */
export const FIGURES_PER_CHARGE = 3;

const NONE: readonly never[] = Object.freeze([]);

/**
 * Turns the figures of one request into a decision. All stores use this function, because clients must see no difference between stores.
 *
 * @param offset index of the first figure of the request
 * @param decidedAtMs by the clock of the deciding store, epoch milliseconds
 * @param source see `LimitDecision`
 */
export function toLimitDecision(
  charges: readonly Charge[],
  figures: readonly number[],
  offset: number,
  decidedAtMs: number,
  source: string,
): LimitDecision {
  const states: LimitState[] = [];
  let violated: string[] | undefined;
  let shadowRefusals: string[] | undefined;
  let longestWaitMs = 0;
  for (let index = 0; index < charges.length; index += 1) {
    const { policy, requests, windowSeconds, enforce } = charges[index] as Charge;
    const at = offset + index * FIGURES_PER_CHARGE;
    const remaining = figures[at] as number;
    const waitMs = figures[at + 2] as number;
    // If nothing remains, the reset time is the time at which the request fits, because an earlier time would make the client retry too
    // soon.
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

/** Returns a decision without counting: every request is admitted, or every request is refused. */
export function uncountedDecision(
  outcome: 'admitted' | 'undecided',
  decidedAtMs: number,
  source: string,
): LimitDecision {
  return { outcome, states: NONE, violated: NONE, shadowRefusals: NONE, waitMs: 0, decidedAtMs, source };
}
