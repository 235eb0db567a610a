// The place of one exchange in the concurrency limit of its upstream. This class waits for the place, holds it, and gives it back.

import type { GatewayError } from '../../catalogue/errors.ts';
import type { Caller } from '../../exchange/caller.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import type { QueueEntry, UpstreamLoad, Waiter } from './fair-queue.ts';

/** The share of the deadline that a request may spend in the queue. The rest of the time is for the answer. */
const WAITING_PART = 0.9;

/** Called at the end of the wait: with the refusal for the client, or with undefined if the exchange has its place. */
type OnWaited = (refusal: GatewayError | undefined) => void;

export class ExchangePlace implements Waiter {
  readonly #exchange: Forwardable;
  readonly #concurrency: ConcurrencyLimit;
  /** The entry of the exchange in the queue while it waits. */
  #entry: QueueEntry | undefined;
  #onWaited: OnWaited | undefined;
  #load: UpstreamLoad | undefined;

  constructor(exchange: Forwardable, concurrency: ConcurrencyLimit) {
    this.#exchange = exchange;
    this.#concurrency = concurrency;
  }

  /** Takes a place. Returns false if none is free; call `wait` then. */
  take(): boolean {
    this.#load = this.#concurrency.take(organizationOf(this.#exchange.caller));
    return this.#load !== undefined;
  }

  /**
   * Waits for a place.
   *
   * @param deadlineAt deadline of the exchange, as `performance.now()` counts
   */
  wait(deadlineAt: number, onWaited: OnWaited): void {
    const now = performance.now();
    this.#onWaited = onWaited;
    const withinMs = (deadlineAt - now) * WAITING_PART;
    this.#entry = this.#concurrency.wait(organizationOf(this.#exchange.caller), withinMs, this, now);
  }

  gotPlace(load: UpstreamLoad, waitedMs: number): void {
    this.#entry = undefined;
    this.#load = load;
    this.#exchange.trail.noteQueued(waitedMs);
    this.#onWaited?.(undefined);
  }

  refused(error: GatewayError, waitedMs: number): void {
    this.#entry = undefined;
    this.#exchange.trail.noteQueued(waitedMs);
    this.#onWaited?.(error);
  }

  /** Leaves the queue, if the exchange waits in it. */
  leaveQueue(): void {
    if (this.#entry === undefined) return;
    this.#concurrency.leaveQueue(this.#entry);
    this.#exchange.trail.noteQueued(performance.now() - this.#entry.sinceMs);
    this.#entry = undefined;
  }

  /** Gives the place back. Returns false if the exchange no longer has one. */
  giveBack(): boolean {
    const load = this.#load;
    if (load === undefined) return false;
    this.#load = undefined;
    this.#concurrency.giveBack(load);
    return true;
  }
}

/** Returns the key of the fair queue. A caller without an organization has its own key. */
function organizationOf({ organization, subject }: Caller): string {
  return organization === undefined ? subject : organization.id;
}
