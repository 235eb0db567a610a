// The interface of certificate stores. A store has named records, and a lease for the one instance that orders certificates. Types only.

import type { Awaitable } from '../shared/awaitable.ts';

/** The records, by name. `read` returns the same object as long as no record changes. */
export type AcmeRecords = ReadonlyMap<string, string>;

/** New texts of records, by name. The value undefined removes a record. */
export type AcmeChanges = Readonly<Record<string, string | undefined>>;

export interface AcmeStore {
  /**
   * Returns the time of the store's clock, in epoch milliseconds, because instances compare it with times that other instances have
   * written. Before the first `read`, and without a shared store, returns the time of the machine.
   */
  now(): number;
  /** Reads the records. This method and the methods below reject at once while the store cannot be reached. */
  read(): Awaitable<AcmeRecords>;
  /**
   * Takes the lease. Returns a fencing token that no earlier lease had. Returns undefined if another holder has the lease.
   *
   * @param forMs the time after which the lease ends without `confirm`
   */
  take(forMs: number): Awaitable<number | undefined>;
  /** Prolongs the lease. Returns false if a later holder has taken it. */
  confirm(token: number, forMs: number): Awaitable<boolean>;
  release(token: number): Awaitable<void>;
  /** Writes all changes in one step. Writes nothing and returns false if a later holder has taken the lease. */
  write(token: number, changes: AcmeChanges): Awaitable<boolean>;
  /** Writes without the lease. Commands use it to leave a request for the gateway. */
  put(changes: AcmeChanges): Awaitable<void>;
  /** Calls `onChange` soon after a change. A call may be lost, so poll `read`, too. Returns a function that ends the subscription. */
  subscribe(onChange: () => void): () => void;
  close(): void;
}
