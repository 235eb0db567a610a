// The place of one exchange in the concurrency limit of its upstream: waits for it, holds it, gives it back. The base class of the
// attempts, because a second object would cost each request an allocation.

import type { Caller } from '../../caller.ts';
import type { GatewayError } from '../../errors.ts';
import type { Forwardable } from '../../exchange.ts';
import type { UpstreamRoute } from '../routes.ts';
import type { OrganizationShare, QueueEntry, Waiter } from './fair-queue.ts';

/** The part of its time that a request may spend in the queue: the rest is for the answer. */
const WAITING_PART = 0.9;

export abstract class ExchangePlace implements Waiter {
  protected readonly exchange: Forwardable;
  protected readonly route: UpstreamRoute;
  /** `performance.now()` */
  protected readonly deadlineAt: number;
  /** Its entry in the queue, then its place. */
  #waiter: QueueEntry | undefined;
  #place: OrganizationShare | undefined;

  constructor(exchange: Forwardable, route: UpstreamRoute, deadlineAt: number) {
    this.exchange = exchange;
    this.route = route;
    this.deadlineAt = deadlineAt;
  }

  /** The exchange has its place. */
  protected abstract begin(): void;
  /** The client has left. */
  protected abstract leave(): void;
  /** Ends the exchange with the refusal for its client. */
  abstract endWith(thrown: unknown): void;

  /** Calls `begin`, `leave` or `endWith`, now or after the wait. */
  protected takePlace(): void {
    const { concurrency } = this.route;
    const organization = shareOf(this.exchange.caller);
    this.#place = concurrency.enter(organization);
    if (this.#place !== undefined) this.begin();
    else if (this.exchange.response.destroyed) this.leave();
    else {
      const now = performance.now();
      this.#waiter = concurrency.wait(organization, (this.deadlineAt - now) * WAITING_PART, this, now);
    }
  }

  entered(place: OrganizationShare, waitedMs: number): void {
    this.#waiter = undefined;
    this.#place = place;
    this.exchange.trail.queuedMs = waitedMs;
    this.begin();
  }

  refused(error: GatewayError, waitedMs: number): void {
    this.#waiter = undefined;
    this.exchange.trail.queuedMs = waitedMs;
    this.endWith(error);
  }

  /** False: the exchange does not wait. */
  protected leaveQueue(): boolean {
    if (this.#waiter === undefined) return false;
    this.route.concurrency.leaveQueue(this.#waiter);
    this.exchange.trail.queuedMs = performance.now() - this.#waiter.sinceMs;
    return true;
  }

  /** False: it has no place any more. */
  protected leavePlace(): boolean {
    const place = this.#place;
    if (place === undefined) return false;
    this.#place = undefined;
    this.route.concurrency.leave(place);
    return true;
  }
}

/** The key of the fair queue: a caller without an organization counts alone. */
function shareOf({ organization, subject }: Caller): string {
  return organization === undefined ? subject : organization.id;
}
