// The place of one exchange in the concurrency limit of its upstream: waits for it, holds it, gives it back.

import type { GatewayError } from '../../catalogue/errors.ts';
import type { Caller } from '../../exchange/caller.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import type { OrganizationShare, QueueEntry, Waiter } from './fair-queue.ts';

/** The part of its time that a request may spend in the queue. The rest is for the answer. */
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
   * Calls a method of the owner, now or after the wait.
   *
   * @param deadlineAt of the exchange, as `performance.now()` counts
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

  /** Leaves the queue. Returns false if the exchange does not wait. */
  leaveQueue(): boolean {
    if (this.#waiter === undefined) return false;
    this.#concurrency.leaveQueue(this.#waiter);
    this.noteQueued(performance.now() - this.#waiter.sinceMs);
    return true;
  }

  /** Adds to the time in queues, of which there are two: for a place, and for a connection. */
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

/** Returns the key of the fair queue. A caller without an organization counts alone. */
function shareOf({ organization, subject }: Caller): string {
  return organization === undefined ? subject : organization.id;
}
