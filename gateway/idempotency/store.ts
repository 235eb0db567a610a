// What a store of answers does, whatever it is built on. Types only.
// Every method is one atomic step, and rejects when the store is away; how long that may take is the caller's to bound.

import type { Awaitable, Mode } from '../exchange.ts';
import type { Retention } from './retention.ts';

/** Where one Idempotency-Key is remembered: keys of another organization or mode are other keys. */
export interface Slot {
  /** Id of the organization. */
  readonly organization: string;
  readonly mode: Mode;
  /** Stands for the key, which itself is not stored. */
  readonly digest: string;
}

/**
 * What is stored before the first byte of a request is sent. From then on the request counts as sent: a gateway that dies says nothing
 * more. One that lives finishes, forgets or gives up.
 */
export interface Claim {
  readonly fingerprint: string;
  /** The request's id: names the owner in the store, and the original in every replay. */
  readonly owner: string;
  /** An owner that has said nothing for so long is taken to be dead: the outcome is unknown. */
  readonly leaseMs: number;
  /** How long that is remembered. */
  readonly retainMs: number;
  /** Epoch milliseconds. */
  readonly sentAtMs: number;
  /** The upstream's name. */
  readonly upstream: string;
  /** Whether a request whose outcome is unknown runs again: then its slot is taken over. */
  readonly runsAgain: boolean;
}

/** What is known of a request whose outcome is not. */
export interface Lost {
  /** The request's id. */
  readonly owner: string;
  /** Absent for requests that began under an earlier version. */
  readonly sentAtMs: number | undefined;
  readonly upstream: string | undefined;
}

export type Begun =
  /** The slot was free and is the owner's now. */
  | { readonly state: 'started' }
  /** Another owner is at work on the same request. */
  | { readonly state: 'running' }
  /** The same request was sent, or was about to be, and its owner died or never learned what came of it. */
  | ({ readonly state: 'unknown' } & Lost)
  /** The key stands for another request, whether that one is still running or done. */
  | { readonly state: 'different' }
  /** The same request was done. Undefined: what came of it was too long to be kept, or went over its organization's bound. */
  | { readonly state: 'done'; readonly record: Buffer | undefined };

export interface AnswerStore {
  begin(slot: Slot, claim: Claim): Awaitable<Begun>;
  /**
   * Only the owner is heard, also after its lease unless its slot was taken over. An absent record says that the request is done all the
   * same.
   */
  finish(slot: Slot, owner: string, record: Buffer | undefined, retention: Retention): Awaitable<void>;
  /** Frees the slot, if it is still the owner's. */
  forget(slot: Slot, owner: string): Awaitable<void>;
  /** The owner does not learn the outcome any more: ends its lease. This counts as stored, and is remembered whether or not there is room. */
  giveUp(slot: Slot, owner: string, retention: Retention): Awaitable<void>;
  status(): AnswerStoreStatus;
  close(): Awaitable<void>;
}

/** What `/status` says. */
export interface AnswerStoreStatus {
  readonly kind: 'sqlite' | 'redis';
  /** Whether it takes what is written to it. */
  readonly state: 'up' | 'away';
}
