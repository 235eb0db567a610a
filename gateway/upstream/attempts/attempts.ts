// The attempts of one exchange with an upstream, until one is answered: their deadlines, their targets, and the end of the exchange.
// exchange-place.ts waits for the place, relay.ts passes the answer on, retry-plan.ts decides about retries. It is a class, because each
// request creates one, and methods on a prototype cost nothing to create.

import type { GatewayError } from '../../errors.ts';
import type { Forwardable } from '../../exchange.ts';
import type { StreamEnd, StreamKind } from '../../findings.ts';
import type { DenseSetEntry } from '../../shared/dense-set.ts';
import { contain } from '../../shared/faults.ts';
import { ExchangePlace } from '../concurrency/exchange-place.ts';
import { type SendingFailure, upstreamFailure } from '../failure.ts';
import type { ContractCheck } from '../relay/contract-check.ts';
import { Relay, type RelayOwner } from '../relay/relay.ts';
import type { UpstreamRoute } from '../routes.ts';
import { type AttemptOutcome, isClientsDoing, outcomeOf } from '../targets/outcome.ts';
import type { Target, Targets } from '../targets/targets.ts';
import type { DeadlineOwner } from './deadlines.ts';
import { type AttemptFailure, type NextAttempt, RetryPlan } from './retry-plan.ts';

/** What all exchanges of one configuration share. */
export interface AttemptsOptions {
  readonly targets: Targets;
  readonly contractCheck: ContractCheck;
  /** Counts an open stream until the returned function is called. Throws too_many_streams. */
  openStream(exchange: Forwardable, kind: StreamKind, end: (why: StreamEnd) => void): () => void;
}

export interface RequestSender {
  /**
   * Sends the request once. The relay gets the answer after the rules and the credential of the upstream have judged it. If it throws, the
   * attempt has failed.
   */
  send(target: Target, relay: Relay, attempts: Attempts): void;
}

/**
 * Resolves when the exchange has ended, also when its client has left. Rejects with the refusal for the client.
 *
 * @param deadlineAt `performance.now()`
 */
export function sendWithAttempts(
  options: AttemptsOptions,
  exchange: Forwardable,
  route: UpstreamRoute,
  deadlineAt: number,
  sender: RequestSender,
): Promise<void> {
  return new Promise((resolve, reject) => {
    new Attempts(options, exchange, route, deadlineAt, sender, resolve, reject).start();
  });
}

export class Attempts extends ExchangePlace implements RelayOwner, DeadlineOwner {
  attemptAt = 0;
  readonly #options: AttemptsOptions;
  readonly #sender: RequestSender;
  readonly #resolve: () => void;
  readonly #reject: (error: unknown) => void;
  #watched: DenseSetEntry<DeadlineOwner> | undefined;
  #isClockStopped = false;
  /** Whether the answer took longer than maxStreamMs, which is no failure of the target. */
  #isOverlong = false;
  #pause: NodeJS.Timeout | undefined;
  #target: Target | undefined;
  #relay: Relay | undefined;
  #closeStream: (() => void) | undefined;
  /** Created when an attempt fails or is to be repeated. */
  #retries: RetryPlan | undefined;
  #count = 0;
  /** Whether the client has the whole answer. */
  #isRelayed = false;
  readonly #onClientGone = () => this.#clientGone();

  /** The arguments are positional, because an options object would cost each request an allocation. */
  constructor(
    options: AttemptsOptions,
    exchange: Forwardable,
    route: UpstreamRoute,
    deadlineAt: number,
    sender: RequestSender,
    resolve: () => void,
    reject: (error: unknown) => void,
  ) {
    super(exchange, route, deadlineAt);
    this.#options = options;
    this.#sender = sender;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Sends as soon as the concurrency limit has a place. At the end it calls `resolve`, or `reject` with the refusal for the client. */
  start(): void {
    // Prepended, so that it runs before the listener that ends and logs the exchange.
    this.exchange.response.prependListener('close', this.#onClientGone);
    this.takePlace();
  }

  protected begin(): void {
    const { operation, caller } = this.exchange;
    // Another exchange calls this when it gives its place back. An error here must not reach that exchange.
    try {
      const target = this.#options.targets.pick(operation.upstream, caller.mode);
      this.#target = target;
      this.#watched = this.route.watch.add(this);
      this.route.budget.request();
      // The clock is read after the choice of the target: a breaker that has just admitted the request ignores attempts that began earlier.
      this.#attempt(target, performance.now());
    } catch (error) {
      if (this.#target !== undefined) this.#release();
      this.endWith(error);
    }
  }

  #attempt(target: Target, at: number): void {
    const { trail, response } = this.exchange;
    this.#target = target;
    trail.target = target.origin;
    if (this.#count === 0) trail.forwardedAt = at;
    this.attemptAt = at;
    this.#count += 1;
    trail.attempts = this.#count;
    const relay = new Relay(this.exchange, this.route, this.#options.contractCheck, this);
    this.#relay = relay;
    if (response.destroyed) {
      this.#clientGone();
      return;
    }
    try {
      this.#sender.send(target, relay, this);
    } catch (error) {
      relay.onResponseError(undefined, error as Error);
    }
  }

  /**
   * Begins to send the request again to the same target, because the answer rules or the upstream credential ask for it. Returns false if
   * it was sent again before, or if its body was streamed and is gone.
   */
  beginRepeat(reason: 'declared' | 'credential'): boolean {
    if (!this.#plan().mayRepeat(reason)) return false;
    this.#count += 1;
    this.exchange.trail.attempts = this.#count;
    this.beginAfterRead();
    return true;
  }

  /** Call it when the record that the request depends on has been read, and the request is sent. */
  beginAfterRead(): void {
    this.attemptAt = performance.now();
    this.#relay?.noteAgain();
    this.#forgetAnswer();
  }

  #plan(): RetryPlan {
    this.#retries ??= new RetryPlan(this.#options.targets, this.exchange, this.route, this.deadlineAt);
    return this.#retries;
  }

  #forgetAnswer(): void {
    this.exchange.trail.upstreamStatus = undefined;
    this.exchange.trail.upstreamMs = undefined;
  }

  /** The wait is that of a queue: it is no time of the service. */
  waited(waitedMs: number): void {
    this.noteQueued(waitedMs);
    this.attemptAt += waitedMs;
  }

  relayed(): void {
    const status = this.#relay?.answeredStatus;
    this.#endAttempt(outcomeOf(status, undefined), status);
    this.route.budget.answer();
    this.#isRelayed = true;
    this.#settle();
    this.#resolve();
  }

  failed(error: GatewayError, failure: AttemptFailure, wasSent: boolean, status: number): void {
    const target = this.#target as Target;
    // An overlong answer is no failure of the target, and neither is a fault of the client.
    const isNone = this.#isOverlong || isClientsDoing(this.exchange, error);
    const outcome = isNone ? 'abandoned' : outcomeOf(this.#relay?.answeredStatus, error);
    this.#endAttempt(outcome, status >= 500 ? status : error);
    // A refusal of the request is an answer, too: it shows that the connections work.
    if (failure === 'status' && status < 500) this.route.budget.answer();
    const plan = this.#plan();
    const next = plan.after({ target, error, failure, wasSent, status });
    if (next === undefined) this.endWith(plan.error);
    else this.#again(next);
  }

  /** Called when the client has left and no answer is being stored. */
  abandoned(): void {
    this.#endAttempt('abandoned');
    this.clientLeft();
  }

  stopClock(): void {
    this.#isClockStopped = true;
    if (this.#watched !== undefined) this.route.watch.remove(this.#watched);
  }

  /** Opens a stream. From then on it holds no place and no connection of the pool, so that others can have them. */
  openStream(kind: StreamKind, end: (why: StreamEnd) => void): void {
    this.#closeStream = this.#options.openStream(this.exchange, kind, end);
    this.leavePlaceAndPool();
  }

  /** Gives back the place and the connection of the pool. The answer goes on without them. */
  leavePlaceAndPool(): void {
    if (this.leavePlace()) this.#relay?.leavePool();
  }

  #again({ target, waitMs }: NextAttempt): void {
    this.#forgetAnswer();
    this.exchange.trail.bytesOut = 0;
    this.#target = target;
    if (waitMs === 0) this.#attempt(target, performance.now());
    else this.#pause = setTimeout(resume, waitMs, this);
  }

  /** Sends the request again, after the pause between two attempts. */
  resume(): void {
    this.#pause = undefined;
    this.#attempt(this.#target as Target, performance.now());
  }

  endWith(thrown: unknown): void {
    this.#settle();
    this.#reject(thrown);
  }

  checkDeadlines(now: number): void {
    // Once the deadline of the head has passed, an answer in progress gives its place back. Otherwise slow clients would occupy the upstream.
    if (now >= this.deadlineAt && this.#relay?.passesSince !== undefined) this.leavePlaceAndPool();
    this.#relay?.keepAlive(now);
    // Timers count whole milliseconds.
    if (this.#isClockStopped || now + 1 < this.#dueAt(now)) return;
    contain(
      () => this.#endOverdue(now),
      (thrown) => this.endWith(thrown),
    );
  }

  #endOverdue(now: number): void {
    const relay = this.#relay;
    if (relay === undefined) {
      // Between two attempts.
      this.#release();
      this.endWith(this.#retries?.error);
    } else {
      this.#isOverlong = now + 1 >= (relay.passesSince ?? now) + this.route.maxStreamMs;
      if (this.#isOverlong && relay.endStream('too_long')) return;
      this.exchange.trail.note('timeout', this.#endedBy(now, relay));
      relay.fail(this.#timeout(), now + 1 < this.deadlineAt ? 'timeout' : 'other');
    }
  }

  /** The setting whose time is over, for the log. */
  #endedBy(now: number, relay: Relay): string {
    const { timeoutMs, firstByteTimeoutMs, idleTimeoutMs, maxStreamMs } = this.route;
    if (this.#isOverlong) return `maxStreamMs ${maxStreamMs}`;
    if (relay.passesSince === undefined && now + 1 >= this.deadlineAt)
      return `timeoutMs ${this.exchange.operation.timeoutMs ?? timeoutMs}`;
    return relay.lastByteAt(now) === undefined
      ? `firstByteTimeoutMs ${firstByteTimeoutMs}`
      : `idleTimeoutMs ${idleTimeoutMs}`;
  }

  #timeout(): GatewayError {
    const wasSent = this.#relay?.wasSent === true;
    return upstreamFailure('upstream_timeout', wasSent ? 'http_response_timeout' : 'connection_timeout');
  }

  #dueAt(now: number): number {
    const { firstByteTimeoutMs = Number.POSITIVE_INFINITY, idleTimeoutMs, maxStreamMs } = this.route;
    if (this.#relay === undefined) return this.deadlineAt;
    const byteAt = this.#relay.lastByteAt(now);
    const { passesSince } = this.#relay;
    const dueAt = byteAt === undefined ? this.attemptAt + firstByteTimeoutMs : byteAt + idleTimeoutMs;
    return Math.min(dueAt, passesSince === undefined ? this.deadlineAt : passesSince + maxStreamMs);
  }

  #clientGone(): void {
    if (this.#isRelayed) return;
    if (this.#relay !== undefined) this.#relay.clientGone();
    else {
      if (!this.leaveQueue()) this.#release();
      this.clientLeft();
    }
  }

  /** Gives back the target that was picked for the attempt after a pause. */
  #release(): void {
    this.#options.targets.ended(this.#target as Target, 'abandoned', performance.now());
  }

  /** Ends the exchange of a client that has left: no target failed, and no answer can be sent. */
  protected clientLeft(): void {
    this.exchange.trail.clientLeft();
    this.#settle();
    this.#resolve();
  }

  #endAttempt(outcome: AttemptOutcome, failure?: SendingFailure): void {
    this.#relay = undefined;
    this.#options.targets.ended(this.#target as Target, outcome, this.attemptAt, failure);
  }

  #settle(): void {
    this.stopClock();
    if (this.#pause !== undefined) clearTimeout(this.#pause);
    this.#closeStream?.();
    // After a whole answer the listener stays: removing it costs more than its one call, which does nothing.
    if (!this.#isRelayed) this.exchange.response.off('close', this.#onClientGone);
    this.leavePlace();
  }
}

function resume(attempts: Attempts): void {
  contain(
    () => attempts.resume(),
    (thrown) => attempts.endWith(thrown),
  );
}
