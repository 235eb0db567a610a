// The requests that wait for a connection of a pool, in the order in which they are sent.

import type { RequestInFlight } from './request-in-flight.ts';

export class WaitingRequests {
  readonly #requests: RequestInFlight[] = [];

  add(request: RequestInFlight): void {
    this.#requests.push(request);
  }

  /** Number of requests. Some of them may have ended. */
  get length(): number {
    return this.#requests.length;
  }

  /** Drops the first requests if they have ended. Returns whether another request waits. */
  hasNext(): boolean {
    while (this.#requests[0]?.handler.isEnded === true) this.#requests.shift();
    return this.#requests.length > 0;
  }

  /** Takes the first request. Call it only after `hasNext` has returned true. */
  next(): RequestInFlight {
    const request = this.#requests.shift() as RequestInFlight;
    if (request.waitsSinceMs !== 0) request.waitedMs = performance.now() - request.waitsSinceMs;
    return request;
  }

  dropAll(): void {
    this.#requests.length = 0;
  }

  /**
   * Notes since when requests wait because all connections are in use. The loop goes from the newest request to older ones. It ends at a
   * request whose time is noted, because the times of all older requests are noted as well.
   *
   * @param expected number of connections that the first requests will soon get
   */
  noteWaits(expected: number): void {
    for (let at = this.#requests.length - 1; at >= expected; at -= 1) {
      const request = this.#requests[at] as RequestInFlight;
      if (request.waitsSinceMs !== 0) return;
      request.waitsSinceMs = performance.now();
    }
  }
}
