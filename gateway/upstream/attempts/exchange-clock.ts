// The deadlines of one exchange with an upstream. When a deadline has passed, the exchange ends with upstream_timeout. An answer that takes
// longer than maxStreamMs is cut.

import type { GatewayError } from '../../catalogue/errors.ts';
import { upstreamFailure } from '../../catalogue/upstream-failure.ts';
import type { Mode } from '../../exchange/caller.ts';
import type { DenseSetEntry } from '../../shared/dense-set.ts';
import { contain } from '../../shared/faults.ts';
import type { Relay } from '../relay/relay.ts';
import type { Attempts } from './attempts.ts';
import type { DeadlineOwner } from './deadlines.ts';

export class ExchangeClock implements DeadlineOwner {
  #isOverlong = false;
  #isStopped = false;
  #watched: DenseSetEntry<DeadlineOwner> | undefined;
  readonly #attempts: Attempts;

  constructor(attempts: Attempts) {
    this.#attempts = attempts;
  }

  /** Whether the answer took longer than maxStreamMs. This is not a failure of the target. */
  get isOverlong(): boolean {
    return this.#isOverlong;
  }

  start(): void {
    this.#watched = this.#attempts.route.deadlines.add(this);
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#watched !== undefined) this.#attempts.route.deadlines.remove(this.#watched);
  }

  get operation(): string {
    const { method, path } = this.#attempts.exchange.operation;
    return `${method} ${path}`;
  }

  get mode(): Mode {
    return this.#attempts.exchange.caller.mode;
  }

  unansweredSince(now: number): number | undefined {
    const { relay, exchange } = this.#attempts;
    // A streamed request body may still be arriving from a slow client, so the upstream may have nothing to answer yet.
    const mayWaitForClient = exchange.operation.body === 'stream';
    if (relay === undefined || relay.isWaiting || this.#isStopped || mayWaitForClient) return undefined;
    return relay.lastProgressAt(now) === undefined ? relay.startedAt : undefined;
  }

  checkDeadlines(now: number): void {
    const attempts = this.#attempts;
    // From `deadlineAt` on, an answer that still passes to its client holds no place. Otherwise clients that read slowly would take all
    // places of the upstream.
    if (now >= attempts.deadlineAt && attempts.relay?.passesSince !== undefined) attempts.leavePlaceAndPool();
    attempts.relay?.keepAlive(now);
    // The timer may fire up to 1 ms early, because it counts whole milliseconds.
    if (this.#isStopped || now + 1 < this.#dueAt(now)) return;
    contain(
      () => this.#end(now),
      (thrown) => attempts.refuse(thrown),
    );
  }

  /** Returns when the first deadline passes. */
  #dueAt(now: number): number {
    const { relay, route, deadlineAt } = this.#attempts;
    const { firstByteTimeoutMs = Number.POSITIVE_INFINITY, idleTimeoutMs, maxStreamMs } = route;
    if (relay === undefined || relay.isWaiting) return deadlineAt;
    const byteAt = relay.lastProgressAt(now);
    const { passesSince } = relay;
    const dueAt = byteAt === undefined ? relay.startedAt + firstByteTimeoutMs : byteAt + idleTimeoutMs;
    return Math.min(dueAt, passesSince === undefined ? deadlineAt : passesSince + maxStreamMs);
  }

  #end(now: number): void {
    const { relay, route, deadlineAt, exchange } = this.#attempts;
    if (relay === undefined) this.#attempts.giveUp();
    else {
      this.#isOverlong = now + 1 >= (relay.passesSince ?? now) + route.maxStreamMs;
      if (this.#isOverlong && relay.endStream('too_long')) return;
      exchange.trail.note('timeout', this.#endedBy(now, relay));
      relay.interrupt(timeoutOf(relay), now + 1 < deadlineAt ? 'timeout' : 'other');
    }
  }

  /** Returns the setting whose time is over, for the log. */
  #endedBy(now: number, relay: Relay): string {
    const { route, deadlineAt, exchange } = this.#attempts;
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
