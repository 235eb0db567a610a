// The store of ordered certificates, shared by all instances: named records, and the lease of the one instance that orders. Types only.

import type { Awaitable } from '../shared/awaitable.ts';

/** Record by name. The same object as long as no record changes. */
export type AcmeRecords = ReadonlyMap<string, string>;

/** Undefined removes a record. */
export type AcmeChanges = Readonly<Record<string, string | undefined>>;

export interface AcmeStore {
  /**
   * Epoch milliseconds by the clock of the store, because instances read times that other instances have written. Before the first
   * `read`, and without a shared store, the clock of the machine.
   */
  now(): number;
  /** Every other method rejects, and does not wait, while the store is away. */
  read(): Awaitable<AcmeRecords>;
  /**
   * Takes the lease, unless another holder has it. Returns its fencing token, which no earlier lease had; undefined if the lease is held.
   *
   * @param forMs the lease ends after this time without `confirm`
   */
  take(forMs: number): Awaitable<number | undefined>;
  /** Prolongs the lease. False if a later holder has taken it. */
  confirm(token: number, forMs: number): Awaitable<boolean>;
  release(token: number): Awaitable<void>;
  /** Writes all changes in one step. Writes nothing and returns false if a later holder has taken the lease. */
  write(token: number, changes: AcmeChanges): Awaitable<boolean>;
  /** Writes without the lease: a command leaves its request to the gateway. */
  put(changes: AcmeChanges): Awaitable<void>;
  /** Calls back soon after a change. A call may be lost: poll `read` as well. Returns a function that ends it. */
  subscribe(onChange: () => void): () => void;
  close(): void;
}
