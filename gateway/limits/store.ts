// What a counter store is asked and what it answers. Types only: `process-store.ts` and `redis-store.ts` are the two stores.

import type { Awaitable, QuotaState } from '../exchange.ts';

/** What to do with requests that Redis cannot decide: count in this process, let all in, or let none in. */
export type AwayPolicy = 'local' | 'allow' | 'refuse';

/** One counter that one request is charged to. Built once and used for many requests. */
export interface Charge {
  /** Whose counter it is; equal in every instance and over reloads of the rules. */
  readonly key: string;
  /** The name clients know the limit by. */
  readonly policy: string;
  readonly requests: number;
  readonly windowSeconds: number;
  readonly windowMs: number;
  readonly cost: number;
  /** False: a shadow limit. It counts as if it were enforced and reports, but never refuses. */
  readonly enforce: boolean;
}

export interface LimitDecision {
  /** `undecided`: the store is away and the policy is to refuse. */
  readonly outcome: 'admitted' | 'refused' | 'undecided';
  /** One per charge, in their order; empty when nothing was counted. */
  readonly states: readonly QuotaState[];
  /** Enforced policies that the request does not fit into. */
  readonly violated: readonly string[];
  /** Shadow policies that the request does not fit into. */
  readonly shadowRefusals: readonly string[];
  /** Until all violated policies have room, if nobody else spends. */
  readonly waitMs: number;
  /** The deciding store's clock, epoch milliseconds. */
  readonly decidedAtMs: number;
  /** `redis`, `known` if Redis did not have to be asked, `process`, or the policy in force while Redis is away. */
  readonly source: string;
}

export interface CounterStoreStatus {
  readonly kind: 'process' | 'redis';
  readonly state: 'up' | 'away';
  /** Epoch milliseconds of the last change. */
  readonly since: number;
  /** Absent while the store is up. */
  readonly policyInForce: AwayPolicy | undefined;
  /** Why it is away, for the log. */
  readonly reason: string | undefined;
}

export interface CounterStore {
  /** Decides all charges of one request together: either every enforced one has room and all are spent, or none is. */
  decide(charges: readonly Charge[]): Awaitable<LimitDecision>;
  /** Forgets all that was spent under these names, which share one hash tag. Rejects while the store is away. */
  reset(keys: readonly string[]): Awaitable<void>;
  /** A window has become so long: what is counted already counts so long after its admission. Rejects while the store is away. */
  keep(windowMs: number): Awaitable<void>;
  /** Somebody has reset counters: refusals that are only remembered here may not hold any more. */
  forgetRefusals(): void;
  status(): CounterStoreStatus;
  close(): Promise<void>;
}
