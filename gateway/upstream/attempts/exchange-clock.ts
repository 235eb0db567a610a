// The deadlines of one exchange with an upstream. When a deadline has passed, the exchange ends with upstream_timeout. An answer that takes
// longer than maxStreamMs is cut.

import type { GatewayError } from '../../catalogue/errors.ts';
import { upstreamFailure } from '../../catalogue/upstream-failure.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { DenseSetEntry } from '../../shared/dense-set.ts';
import { contain } from '../../shared/faults.ts';
import type { Relay } from '../relay/relay.ts';
import type { UpstreamRoute } from '../routes.ts';
import type { DeadlineOwner } from './deadlines.ts';

/** The exchange whose time passes. */
export interface TimedExchange {
  readonly exchange: Forwardable;
  readonly route: UpstreamRoute;
  /** The latest moment for the head of the answer, `performance.now()`. */
  readonly deadlineAt: number;
  /** Start of the attempt, `performance.now()`. */
  readonly attemptAt: number;
  /** The answer of the attempt; undefined between two attempts. */
  readonly relay: Relay | undefined;
  /** Gives back the place and the connection of the pool. The answer continues. */
  leavePlaceAndPool(): void;
  /** Ends the exchange with the failure of its last attempt. */
  endBetweenAttempts(): void;
  /** Called when the attempt has waited before it sends. */
  waited(waitedMs: number): void;
  refuse(thrown: unknown): void;
}

export class ExchangeClock implements DeadlineOwner {
  /** Whether the answer took longer than maxStreamMs. */
  #isOverlong = false;
  /** Whether the attempt waits for its credential before it sends. Only the deadline of the exchange applies meanwhile. */
  #isWaiting = false;
  #isStopped = false;
  #watched: DenseSetEntry<DeadlineOwner> | undefined;
  readonly #timed: TimedExchange;

  constructor(timed: TimedExchange) {
    this.#timed = timed;
  }

  /** Whether it is no failure of the target if the attempt ends now. */
  get excusesTarget(): boolean {
    return this.#isOverlong || this.#isWaiting;
  }

  /** @param ready never rejects */
  async waitForCredential(ready: Promise<void>): Promise<void> {
    const sinceMs = performance.now();
    this.#isWaiting = true;
    await ready;
    this.#isWaiting = false;
    this.#timed.waited(performance.now() - sinceMs);
  }

  start(): void {
    this.#watched = this.#timed.route.watch.add(this);
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#watched !== undefined) this.#timed.route.watch.remove(this.#watched);
  }

  get operation(): string {
    const { method, path } = this.#timed.exchange.operation;
    return `${method} ${path}`;
  }

  unansweredSince(now: number): number | undefined {
    const { relay, attemptAt, exchange } = this.#timed;
    // While a body passes, the client may be the one who is slow.
    const mayWaitForClient = exchange.operation.body === 'stream';
    if (relay === undefined || this.#isWaiting || this.#isStopped || mayWaitForClient) return undefined;
    return relay.lastProgressAt(now) === undefined ? attemptAt : undefined;
  }

  checkDeadlines(now: number): void {
    const timed = this.#timed;
    // An answer that is still passing to the client when its deadline for the head has passed gives its place back. Otherwise clients that
    // read slowly would take all places of the upstream.
    if (now >= timed.deadlineAt && timed.relay?.passesSince !== undefined) timed.leavePlaceAndPool();
    timed.relay?.stream?.keepAlive(now);
    // The timer may fire up to 1 ms early, because it counts whole milliseconds.
    if (this.#isStopped || now + 1 < this.#dueAt(now)) return;
    contain(
      () => this.#end(now),
      (thrown) => timed.refuse(thrown),
    );
  }

  /** Returns when the first deadline passes. */
  #dueAt(now: number): number {
    const { relay, route, attemptAt, deadlineAt } = this.#timed;
    const { firstByteTimeoutMs = Number.POSITIVE_INFINITY, idleTimeoutMs, maxStreamMs } = route;
    if (relay === undefined || this.#isWaiting) return deadlineAt;
    const byteAt = relay.lastProgressAt(now);
    const { passesSince } = relay;
    const dueAt = byteAt === undefined ? attemptAt + firstByteTimeoutMs : byteAt + idleTimeoutMs;
    return Math.min(dueAt, passesSince === undefined ? deadlineAt : passesSince + maxStreamMs);
  }

  #end(now: number): void {
    const { relay, route, deadlineAt, exchange } = this.#timed;
    if (relay === undefined) this.#timed.endBetweenAttempts();
    else {
      this.#isOverlong = now + 1 >= (relay.passesSince ?? now) + route.maxStreamMs;
      if (this.#isOverlong && relay.stream !== undefined) {
        relay.stream.endEarly('too_long');
        return;
      }
      exchange.trail.note('timeout', this.#endedBy(now, relay));
      relay.fail(timeoutOf(relay), now + 1 < deadlineAt ? 'timeout' : 'other');
    }
  }

  /** Returns the setting whose time is over, for the log. */
  #endedBy(now: number, relay: Relay): string {
    const { route, deadlineAt, exchange } = this.#timed;
    const { timeoutMs, firstByteTimeoutMs, idleTimeoutMs, maxStreamMs } = route;
    if (this.#isOverlong) return `maxStreamMs ${maxStreamMs}`;
    if (relay.passesSince === undefined && now + 1 >= deadlineAt)
      return `timeoutMs ${exchange.operation.timeoutMs ?? timeoutMs}`;
    return relay.lastProgressAt(now) === undefined
      ? `firstByteTimeoutMs ${firstByteTimeoutMs}`
      : `idleTimeoutMs ${idleTimeoutMs}`;
  }
}

function timeoutOf({ wasSent }: Relay): GatewayError {
  return upstreamFailure('upstream_timeout', wasSent ? 'http_response_timeout' : 'connection_timeout');
}
