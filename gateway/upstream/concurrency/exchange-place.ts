// The place of one exchange in the concurrency limit of its upstream: waits for it, holds it, gives it back. It is the base class of the
// attempts, because a second object would cost each request an allocation. The class for WebSocket handshakes is at the end of this file.

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
    this.exchange.trail.queuedMs = waitedMs;
    this.begin();
  }

  refused(error: GatewayError, waitedMs: number): void {
    this.#waiter = undefined;
    this.exchange.trail.queuedMs = waitedMs;
    this.endWith(error);
  }

  /** Leaves the queue. Returns false if the exchange does not wait. */
  protected leaveQueue(): boolean {
    if (this.#waiter === undefined) return false;
    this.route.concurrency.leaveQueue(this.#waiter);
    this.exchange.trail.queuedMs = performance.now() - this.#waiter.sinceMs;
    return true;
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

/**
 * Waits for the place of a WebSocket handshake. The handshake holds it until it is answered or has failed; an open WebSocket holds none.
 * Rejects with upstream_overloaded.
 *
 * @param deadlineAt `performance.now()`
 * @returns the function that gives the place back; undefined if the client has left, and the trail then has status 499
 */
export function placeForHandshake(
  exchange: Forwardable,
  route: UpstreamRoute,
  deadlineAt: number,
): Promise<(() => void) | undefined> {
  return new Promise((resolve, reject) => {
    new HandshakePlace(exchange, route, deadlineAt, resolve, reject).wait();
  });
}

class HandshakePlace extends ExchangePlace {
  readonly #resolve: (release: (() => void) | undefined) => void;
  readonly #reject: (error: unknown) => void;
  readonly #onClientGone = () => {
    this.leaveQueue();
    this.clientLeft();
  };

  constructor(
    exchange: Forwardable,
    route: UpstreamRoute,
    deadlineAt: number,
    resolve: (release: (() => void) | undefined) => void,
    reject: (error: unknown) => void,
  ) {
    super(exchange, route, deadlineAt);
    this.#resolve = resolve;
    this.#reject = reject;
  }

  wait(): void {
    // Runs before the listener that ends and logs the exchange.
    this.exchange.response.prependListener('close', this.#onClientGone);
    this.takePlace();
  }

  protected begin(): void {
    this.#stopListening();
    this.#resolve(() => void this.leavePlace());
  }

  protected clientLeft(): void {
    this.#stopListening();
    this.exchange.trail.clientLeft();
    this.#resolve(undefined);
  }

  endWith(thrown: unknown): void {
    this.#stopListening();
    this.#reject(thrown);
  }

  #stopListening(): void {
    this.exchange.response.off('close', this.#onClientGone);
  }
}
