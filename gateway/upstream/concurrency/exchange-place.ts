// The place of one exchange in the concurrency limit of its upstream. This class waits for the place, holds it, and gives it back.

import type { GatewayError } from '../../catalogue/errors.ts';
import type { Caller } from '../../exchange/caller.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import type { OrganizationShare, QueueEntry, Waiter } from './fair-queue.ts';

/** The share of the deadline that a request may spend in the queue. The rest of the time is for the answer. */
const WAITING_PART = 0.9;

/** The exchange to which a place belongs. */
export interface PlaceOwner {
  /** Called when the exchange has its place. */
  begin(): void;
  /** Called when the client has left. */
  clientLeft(): void;
  /** Ends the exchange with the refusal for its client. */
  refuse(thrown: unknown): void;
}

export class ExchangePlace implements Waiter {
  readonly #exchange: Forwardable;
  readonly #concurrency: ConcurrencyLimit;
  readonly #owner: PlaceOwner;
  /** The entry of the exchange in the queue while it waits. */
  #waiter: QueueEntry | undefined;
  #share: OrganizationShare | undefined;
  #queuedMs = 0;

  constructor(exchange: Forwardable, concurrency: ConcurrencyLimit, owner: PlaceOwner) {
    this.#exchange = exchange;
    this.#concurrency = concurrency;
    this.#owner = owner;
  }

  /**
   * Takes a place, or waits for one. Calls `begin`, `clientLeft` or `refuse` of the owner, at once or after the wait.
   *
   * @param deadlineAt deadline of the exchange, as `performance.now()` counts
   */
  take(deadlineAt: number): void {
    const organization = shareOf(this.#exchange.caller);
    this.#share = this.#concurrency.enter(organization);
    if (this.#share !== undefined) this.#owner.begin();
    else if (this.#exchange.response.destroyed) this.#owner.clientLeft();
    else {
      const now = performance.now();
      this.#waiter = this.#concurrency.wait(organization, (deadlineAt - now) * WAITING_PART, this, now);
    }
  }

  entered(share: OrganizationShare, waitedMs: number): void {
    this.#waiter = undefined;
    this.#share = share;
    this.noteQueued(waitedMs);
    this.#owner.begin();
  }

  refused(error: GatewayError, waitedMs: number): void {
    this.#waiter = undefined;
    this.noteQueued(waitedMs);
    this.#owner.refuse(error);
  }

  /** Leaves the queue, if the exchange waits in it. */
  leaveQueue(): void {
    if (this.#waiter === undefined) return;
    this.#concurrency.leaveQueue(this.#waiter);
    this.noteQueued(performance.now() - this.#waiter.sinceMs);
    this.#waiter = undefined;
  }

  /** Adds a wait to `queuedMs` of the log: the wait for a place, or the wait for a connection of the pool. */
  noteQueued(waitedMs: number): void {
    this.#queuedMs += waitedMs;
    this.#exchange.trail.queuedMs = this.#queuedMs;
  }

  /** Gives the place back. Returns false if the exchange no longer has one. */
  leave(): boolean {
    const share = this.#share;
    if (share === undefined) return false;
    this.#share = undefined;
    this.#concurrency.release(share);
    return true;
  }
}

/** Returns the key of the fair queue. A caller without an organization has its own key. */
function shareOf({ organization, subject }: Caller): string {
  return organization === undefined ? subject : organization.id;
}
