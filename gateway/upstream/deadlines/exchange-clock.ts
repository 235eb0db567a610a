// Keeps the times of one exchange with an upstream, which the relay and the attempts note, and says which of its deadlines has passed.

import type { Forwardable } from '../../exchange/exchange.ts';
import type { DenseSetEntry } from '../../shared/dense-set.ts';
import type { UpstreamRoute } from '../routes.ts';
import type { DeadlineOwner } from './deadlines.ts';

/** The settings that bound an exchange in time. */
export type TimeSetting = 'timeoutMs' | 'firstByteTimeoutMs' | 'idleTimeoutMs' | 'maxStreamMs';

export class ExchangeClock {
  /** The latest moment for the head of the answer. All times are as `performance.now()` counts. */
  readonly deadlineAt: number;
  readonly #exchange: Forwardable;
  readonly #route: UpstreamRoute;
  #watched: DenseSetEntry<DeadlineOwner> | undefined;
  #isStopped = false;
  /** Whether an attempt is in progress. */
  #isAttempting = false;
  #isWaiting = false;
  #startedAt = 0;
  /** 0 before the head of the answer. */
  #progressAt = 0;
  #passesSince: number | undefined;

  constructor(exchange: Forwardable, route: UpstreamRoute, deadlineAt: number) {
    this.#exchange = exchange;
    this.#route = route;
    this.deadlineAt = deadlineAt;
  }

  /** @param owner checks the deadlines when it is called */
  start(owner: DeadlineOwner): void {
    this.#watched = this.#route.deadlines.add(owner);
  }

  /** Call it when the upstream no longer has to meet a deadline: the exchange has ended, or its answer was read to the end. */
  stop(): void {
    this.#isStopped = true;
    if (this.#watched !== undefined) this.#route.deadlines.remove(this.#watched);
  }

  /** Call it when an attempt begins, and before it sends another request. */
  noteAttempt(): void {
    this.#isAttempting = true;
    this.#startedAt = performance.now();
    this.#progressAt = 0;
    this.#passesSince = undefined;
  }

  noteAttemptEnded(): void {
    this.#isAttempting = false;
    this.#passesSince = undefined;
  }

  /** The start of the attempt. A wait for a connection or a credential moves it, because the service is not the cause of the wait. */
  get startedAt(): number {
    return this.#startedAt;
  }

  /** Call it when the attempt has waited for a connection, or for its credential. */
  noteWaited(waitedMs: number): void {
    this.#startedAt += waitedMs;
    this.#exchange.trail.noteQueued(waitedMs);
  }

  /**
   * Waits until the attempt may send. Only the deadline of the exchange applies meanwhile.
   *
   * @param ready resolves when the header of the credential can be made; never rejects
   */
  async waitFor(ready: Promise<void>): Promise<void> {
    const sinceMs = performance.now();
    this.#isWaiting = true;
    await ready;
    this.#isWaiting = false;
    this.noteWaited(performance.now() - sinceMs);
  }

  /** Whether the attempt waits for its credential before it sends. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Call it when the head of the answer has arrived, when bytes of the body have, and when the client has caught up. */
  noteProgress(): void {
    this.#progressAt = performance.now();
  }

  /** Milliseconds from the start of the attempt to the latest progress. */
  get progressMs(): number {
    return this.#progressAt - this.#startedAt;
  }

  /** Call it at the head of an answer whose body is passed to the client as it arrives. */
  notePassing(): void {
    this.#passesSince = this.#progressAt;
  }

  /**
   * Call it when the client gets the head of an answer whose body follows in pieces. The gateway may have held this answer back until now.
   */
  noteBodyBegan(): void {
    if (this.#passesSince !== undefined) return;
    this.noteProgress();
    this.notePassing();
  }

  /** Whether the answer still passes to its client although the time for the head of the answer is over. */
  passesLate(now: number): boolean {
    return now >= this.deadlineAt && this.#passesSince !== undefined;
  }

  /** Returns the time since which the upstream has not answered the request; undefined if its answer has begun, or if it has no request. */
  unansweredSince(): number | undefined {
    // A streamed request body may still be arriving from a slow client, so the upstream may have nothing to answer yet.
    const mayWaitForClient = this.#exchange.operation.body === 'stream';
    const isSent = this.#isAttempting && !this.#isWaiting && !this.#isStopped && !mayWaitForClient;
    return isSent && this.#progressAt === 0 ? this.#startedAt : undefined;
  }

  /**
   * Returns the deadline that has passed; undefined if none has.
   *
   * @param mayPause whether a pause of the answer is not the fault of the upstream
   */
  passed(now: number, mayPause: boolean): TimeSetting | undefined {
    const { firstByteTimeoutMs = Number.POSITIVE_INFINITY, idleTimeoutMs, maxStreamMs } = this.#route;
    // The timer may fire up to 1 ms early, because it counts whole milliseconds.
    const at = now + 1;
    const passesSince = this.#passesSince;
    if (this.#isStopped) return undefined;
    if (passesSince !== undefined) {
      if (at >= passesSince + maxStreamMs) return 'maxStreamMs';
    } else if (at >= this.deadlineAt) return 'timeoutMs';
    if (!this.#isAttempting || this.#isWaiting) return undefined;
    if (this.#progressAt === 0) return at >= this.#startedAt + firstByteTimeoutMs ? 'firstByteTimeoutMs' : undefined;
    return !mayPause && at >= this.#progressAt + idleTimeoutMs ? 'idleTimeoutMs' : undefined;
  }

  /** Returns the setting and its value, for the log. */
  settingOf(deadline: TimeSetting): string {
    const ofOperation = deadline === 'timeoutMs' ? this.#exchange.operation.timeoutMs : undefined;
    return `${deadline} ${ofOperation ?? this.#route[deadline]}`;
  }
}
