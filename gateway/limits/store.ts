// Types of the counter store. `process-store.ts` and `redis-store.ts` implement it.

import type { Awaitable, QuotaState } from '../exchange.ts';

/** How to decide while Redis cannot: count in this process, admit all requests, or refuse all. */
export type AwayPolicy = 'local' | 'allow' | 'refuse';

/** One counter that a request is charged to. Built once and used for many requests. */
export interface Charge {
  /** Name of the counter; equal on every instance and after reloads of the rules. */
  readonly key: string;
  /** Name of the limit, as clients see it. */
  readonly policy: string;
  readonly requests: number;
  readonly windowSeconds: number;
  readonly windowMs: number;
  readonly cost: number;
  /** False: a shadow limit, which counts and reports, but never refuses. */
  readonly enforce: boolean;
}

export interface LimitDecision {
  /** `undecided`: the store is away and the policy is to refuse. */
  readonly outcome: 'admitted' | 'refused' | 'undecided';
  /** One per charge, in their order; empty if no limit counted the request. */
  readonly states: readonly QuotaState[];
  /** Enforced policies that refuse the request. */
  readonly violated: readonly string[];
  /** Shadow policies that would refuse the request. */
  readonly shadowRefusals: readonly string[];
  /** Milliseconds until all violated policies have room, without further requests. */
  readonly waitMs: number;
  /** By the clock of the deciding store, epoch milliseconds. */
  readonly decidedAtMs: number;
  /** `redis`, `known` for a cached refusal, `process`, or the policy in force while Redis is away. */
  readonly source: string;
}

export interface CounterStoreStatus {
  readonly kind: 'process' | 'redis';
  readonly state: 'up' | 'away';
  /** Epoch milliseconds of the last change. */
  readonly since: number;
  /** Absent while the store is up. */
  readonly policyInForce: AwayPolicy | undefined;
  /** Reason why it is away, for the log. */
  readonly reason: string | undefined;
}

export interface CounterStore {
  /** Decides all charges of one request together: if every enforced one has room, all are spent; otherwise none is. */
  decide(charges: readonly Charge[]): Awaitable<LimitDecision>;
  /** Deletes the counters of these names, which share one hash tag. Rejects while the store is away. */
  reset(keys: readonly string[]): Awaitable<void>;
  /**
   * Call it when a window has become longer: units counted before the call then count for this long after their admission. Rejects while
   * the store is away.
   */
  keep(windowMs: number): Awaitable<void>;
  /** Counters were reset: drops cached refusals, which may no longer hold. */
  forgetRefusals(): void;
  status(): CounterStoreStatus;
  close(): Promise<void>;
}
