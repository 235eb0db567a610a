// The place of one exchange in the concurrency limit of its upstream: waits for it, holds it, gives it back. It is the base class of the
// attempts, because a second object would cost each request an allocation.

import type { Caller } from '../../caller.ts';
import type { GatewayError } from '../../errors.ts';
import type { Forwardable } from '../../exchange.ts';
import type { UpstreamRoute } from '../routes.ts';
import type { OrganizationShare, QueueEntry, Waiter } from './fair-queue.ts';

/** The part of its time that a request may spend in the queue. The rest is for the answer. */
const WAITING_PART = 0.9;

export abstract class ExchangePlace implements Waiter {
  protected readonly exchange: Forwardable;
  protected readonly route: UpstreamRoute;
  /** `performance.now()` */
  protected readonly deadlineAt: number;
  /** The entry of the exchange in the queue while it waits. */
  #waiter: QueueEntry | undefined;
  #place: OrganizationShare | undefined;
  #queuedMs = 0;

  constructor(exchange: Forwardable, route: UpstreamRoute, deadlineAt: number) {
    this.exchange = exchange;
    this.route = route;
    this.deadlineAt = deadlineAt;
  }

  /** Called when the exchange has its place. */
  protected abstract begin(): void;
  /** Called when the client has left. */
  protected abstract clientLeft(): void;
  /** Ends the exchange with the refusal for its client. */
  abstract endWith(thrown: unknown): void;

  /** Calls `begin`, `clientLeft` or `endWith`, now or after the wait. */
  protected takePlace(): void {
    const { concurrency } = this.route;
    const organization = shareOf(this.exchange.caller);
    this.#place = concurrency.enter(organization);
    if (this.#place !== undefined) this.begin();
    else if (this.exchange.response.destroyed) this.clientLeft();
    else {
      const now = performance.now();
      this.#waiter = concurrency.wait(organization, (this.deadlineAt - now) * WAITING_PART, this, now);
    }
  }

  entered(place: OrganizationShare, waitedMs: number): void {
    this.#waiter = undefined;
    this.#place = place;
    this.noteQueued(waitedMs);
    this.begin();
  }

  refused(error: GatewayError, waitedMs: number): void {
    this.#waiter = undefined;
    this.noteQueued(waitedMs);
    this.endWith(error);
  }

  /** Leaves the queue. Returns false if the exchange does not wait. */
  protected leaveQueue(): boolean {
    if (this.#waiter === undefined) return false;
    this.route.concurrency.leaveQueue(this.#waiter);
    this.noteQueued(performance.now() - this.#waiter.sinceMs);
    return true;
  }

  /** Adds to the time in queues: the one for a place, and the one for a connection. */
  protected noteQueued(waitedMs: number): void {
    this.#queuedMs += waitedMs;
    this.exchange.trail.queuedMs = this.#queuedMs;
  }

  /** Gives the place back. Returns false if the exchange no longer has one. */
  protected leavePlace(): boolean {
    const place = this.#place;
    if (place === undefined) return false;
    this.#place = undefined;
    this.route.concurrency.release(place);
    return true;
  }
}

/** Returns the key of the fair queue. A caller without an organization counts alone. */
function shareOf({ organization, subject }: Caller): string {
  return organization === undefined ? subject : organization.id;
}
