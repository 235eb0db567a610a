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

export type Begun =
  /** The slot was free and is the owner's now. */
  | { readonly state: 'started' }
  /** Another owner is at work on the same request. */
  | { readonly state: 'running' }
  /** The key stands for another request, whether that one is still running or done. */
  | { readonly state: 'different' }
  /** The same request was done. Undefined: what came of it was too long to be kept, or went over its organization's bound. */
  | { readonly state: 'done'; readonly record: Buffer | undefined };

export interface AnswerStore {
  /** `leaseMs`: an owner that has said nothing for so long is taken to be dead, and the slot is free again. */
  begin(slot: Slot, fingerprint: string, owner: string, leaseMs: number): Awaitable<Begun>;
  /** Only the owner is heard, and only while its lease lasts. An absent record says that the request is done all the same. */
  finish(slot: Slot, owner: string, record: Buffer | undefined, retention: Retention): Awaitable<void>;
  /** Frees the slot, if it is still the owner's. */
  forget(slot: Slot, owner: string): Awaitable<void>;
  status(): StoreStatus;
  close(): Awaitable<void>;
}

/** What `/status` says. */
export interface StoreStatus {
  readonly kind: 'sqlite' | 'redis';
  /** Whether it takes what is written to it. */
  readonly state: 'up' | 'away';
}
