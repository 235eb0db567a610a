// The interface of replay stores, and the code that they share. Every method is one atomic step and rejects if the store cannot be reached.
// The caller bounds its duration.

import type { Mode } from '../exchange/caller.ts';
import type { ReplicaWait } from '../redis/replicas.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import { REAL_MACHINE } from '../shared/machine.ts';

/** Identifies an Idempotency-Key. The same text in another organization or mode is a different key. */
export interface AnswerKey {
  /** Id of the organization. */
  readonly organization: string;
  readonly mode: Mode;
  /** Digest of the key; the key itself is not stored. */
  readonly digest: string;
}

/**
 * The claim of a request on its key. It is stored before the first byte of the request is sent, and from then on the request is treated as
 * sent. The gateway later finishes the claim, forgets it or gives it up. If the gateway crashes, the claim stays.
 */
export interface Claim {
  readonly fingerprint: string;
  /** The request's id, which identifies the owner in the store, and the original request in every replay. */
  readonly owner: string;
  /** After this time without a write the owner is considered dead, and the outcome unknown. */
  readonly leaseMs: number;
  /** How long the store keeps the outcome, or the note that the outcome is unknown. */
  readonly retainMs: number;
  /** Epoch milliseconds. */
  readonly sentAtMs: number;
  /** The upstream's name. */
  readonly upstream: string;
  /** Whether a request with an unknown outcome may run again. If so, a retry takes the entry over. */
  readonly runsAgain: boolean;
  /** The number of Redis replicas that must have the claim before the request is sent; undefined if no replica has to. */
  readonly replicaWait?: ReplicaWait | undefined;
}

/** Thrown by `begin` if the claim was written but too few replicas have it, so that a failover could lose the claim. */
export class NotReplicated extends Error {
  constructor(acknowledged: number, wanted: number) {
    super(`${acknowledged} of ${wanted} replicas have the claim in time`);
    this.name = 'NotReplicated';
  }
}

/** What is known about a request with an unknown outcome. */
export interface UnknownOutcome {
  /** The request's id. */
  readonly owner: string;
  /** Absent for requests that began under an earlier version. */
  readonly sentAtMs: number | undefined;
  readonly upstream: string | undefined;
}

export type ClaimResult =
  /** The key was free and now belongs to the owner. */
  | { readonly state: 'started' }
  /** Another owner is processing the same request. */
  | { readonly state: 'running' }
  /** The same request was sent, or was about to be sent. Its owner has crashed, or has not learnt the outcome. */
  | ({ readonly state: 'unknown' } & UnknownOutcome)
  /** The key was used for another request, which may be running or done. */
  | { readonly state: 'different' }
  /** The same request is done. Its outcome is undefined if it was too long to store, or exceeded the bound of its organization. */
  | { readonly state: 'done'; readonly outcome: Buffer | undefined };

export interface ReplayStore {
  begin(answerKey: AnswerKey, claim: Claim): Awaitable<ClaimResult>;
  /**
   * Stores the outcome. Only the owner of the entry may call it; it may do so after its lease, unless the entry was taken over. Without an
   * outcome, stores only that the request is done.
   */
  finish(answerKey: AnswerKey, owner: string, outcome: Buffer | undefined, retention: Retention): Awaitable<void>;
  /**
   * Frees the key if its entry still belongs to the owner. If the owner took the entry over, an earlier request may have run. The key then
   * stays with that request, and the outcome stays unknown.
   */
  forget(answerKey: AnswerKey, owner: string): Awaitable<void>;
  /**
   * Ends the lease of an owner that will not learn the outcome. The entry is counted against the bound of the organization, but is kept
   * even if it exceeds the bound.
   */
  giveUp(answerKey: AnswerKey, owner: string, retention: Retention): Awaitable<void>;
  status(): ReplayStoreStatus;
  close(): Awaitable<void>;
}

/** State of the store in `/status`. */
export interface ReplayStoreStatus {
  readonly kind: 'sqlite' | 'redis';
  /** Whether the store accepts writes. */
  readonly state: 'up' | 'away';
  /** Why the store accepts no writes; absent while it does, and if the reason is not known. */
  readonly reason?: string;
  /** When the store stopped accepting writes: epoch milliseconds. */
  readonly since?: number;
}

/** Bytes of a finished request besides its outcome: digests, names, indexes. */
export const ENTRY_BYTES = 256;

/**
 * Milliseconds for which a request is kept if its answer exceeds the bound of its organization. Only a short note that the request is done
 * is stored, and this note is not counted against the bound.
 */
export const FULL_RETAIN_MS = 600_000;

/**
 * How long finished requests are kept, and how many bytes one organization may store. Without a bound, one client could fill the disk, or
 * the Redis that also holds the keys.
 *
 * Bytes are counted by span. A span begins with the first answer and lasts `retainMs`. An answer expires at the latest when the span after
 * its own ends, so at most twice the bound is stored at any time.
 */
export interface Retention {
  /** Milliseconds for which an answer can be replayed. */
  readonly retainMs: number;
  /** Bytes that one organization may store in a span, in both modes together. */
  readonly organizationBytesMax: number;
}

/** Returns the milliseconds for which a request is kept if its answer exceeded the bound. */
export function retainMsWithoutRoom({ retainMs }: Retention): number {
  return Math.min(retainMs, FULL_RETAIN_MS);
}

/**
 * Whether a store accepts writes. Only a successful `begin` proves that, because a full store still allows reading, forgetting, and mostly
 * finishing.
 */
interface StoreState {
  /** @param cause why the store is away */
  note(next: ReplayStoreStatus['state'], cause?: unknown): void;
  status(): ReplayStoreStatus;
  /** No change is reported after this call. */
  end(): void;
}

interface StoreStateOptions {
  readonly state?: ReplayStoreStatus['state'];
  readonly now?: (() => number) | undefined;
}

/**
 * Creates the state of a store, which reports only changes. Without `state`, the state is unknown at first, and `status` returns `away`.
 */
export function createStoreState(
  kind: ReplayStoreStatus['kind'],
  onChange: (status: ReplayStoreStatus) => void,
  { state, now = REAL_MACHINE.now }: StoreStateOptions = {},
): StoreState {
  let current = state;
  let away: Pick<ReplayStoreStatus, 'reason' | 'since'> = {};
  let ended = false;
  const status = (): ReplayStoreStatus => ({ kind, state: current ?? 'away', ...away });
  return {
    note(next, cause) {
      if (current === next || ended) return;
      current = next;
      away = next === 'up' ? {} : { ...(cause instanceof Error && { reason: cause.message }), since: now() };
      onChange(status());
    },
    status,
    end() {
      ended = true;
    },
  };
}
