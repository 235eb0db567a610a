// The place of one WebSocket handshake in the concurrency limit of its upstream. The handshake holds it until it is answered or has failed;
// an open WebSocket holds none.

import type { Forwardable } from '../../exchange.ts';
import type { UpstreamRoute } from '../routes.ts';
import { ExchangePlace } from './exchange-place.ts';

/**
 * Waits for a place. Rejects with upstream_overloaded.
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
    this.leave();
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

  protected leave(): void {
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
