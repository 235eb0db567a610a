// The attempts of one exchange with an upstream: picks a target for each attempt, starts the next attempt after a failure, and ends the
// exchange. exchange-clock.ts checks the deadlines, retry-plan.ts decides about retries, upstream/concurrency/exchange-place.ts waits for a
// place, and upstream/relay/relay.ts passes the answer to the client.

import type { GatewayError } from '../../catalogue/errors.ts';
import type { SendingFailure } from '../../catalogue/upstream-failure.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { StreamEnd, StreamKind } from '../../exchange/findings.ts';
import { contain } from '../../shared/faults.ts';
import { ExchangePlace, type PlaceOwner } from '../concurrency/exchange-place.ts';
import type { ContractCheck } from '../relay/contract-check.ts';
import { Relay, type RelayOwner } from '../relay/relay.ts';
import type { UpstreamRoute } from '../routes.ts';
import { type AttemptOutcome, isClientsDoing, outcomeOf } from '../targets/outcome.ts';
import type { Target, Targets } from '../targets/targets.ts';
import { ExchangeClock, type TimedExchange } from './exchange-clock.ts';
import { type AttemptFailure, type NextAttempt, RetryPlan } from './retry-plan.ts';

/** What all exchanges of one configuration share. */
export interface AttemptsOptions {
  readonly targets: Targets;
  readonly contractCheck: ContractCheck;
  /** Counts an open stream until the returned function is called. Throws too_many_streams. serving/open-stream.ts */
  openStream(exchange: Forwardable, kind: StreamKind, end: (why: StreamEnd) => void): () => void;
}

/** Sends the request of an exchange once. The relay gets the answer. If the function throws, the attempt has failed. */
export type SendRequest = (target: Target, relay: Relay, attempts: Attempts) => void;

export class Attempts implements RelayOwner, PlaceOwner, TimedExchange {
  readonly exchange: Forwardable;
  readonly route: UpstreamRoute;
  readonly deadlineAt: number;
  readonly assertion: string | undefined;
  attemptAt = 0;
  relay: Relay | undefined;
  /** Number of times that the request was sent, or was about to be. */
  count = 0;
  readonly #options: AttemptsOptions;
  readonly #send: SendRequest;
  #resolve!: () => void;
  #reject!: (error: unknown) => void;
  readonly #place: ExchangePlace;
  readonly clock: ExchangeClock;
  #pause: NodeJS.Timeout | undefined;
  #target: Target | undefined;
  #closeStream: (() => void) | undefined;
  /** Created when an attempt fails or is to repeat its request. */
  #retryPlan: RetryPlan | undefined;
  /** Whether the client has the whole answer. */
  #isRelayed = false;
  readonly #onClientGone = () => this.#clientGone();

  /**
   * The arguments are positional: an options object would be one more allocation for each request.
   *
   * @param deadlineAt the latest moment for the head of the answer, as `performance.now()` counts
   * @param assertion the token that names the caller to the upstream; undefined if the upstream is not told who calls
   */
  constructor(
    options: AttemptsOptions,
    exchange: Forwardable,
    route: UpstreamRoute,
    deadlineAt: number,
    assertion: string | undefined,
    send: SendRequest,
  ) {
    this.exchange = exchange;
    this.route = route;
    this.deadlineAt = deadlineAt;
    this.assertion = assertion;
    this.#options = options;
    this.#send = send;
    this.#place = new ExchangePlace(exchange, route.concurrency, this);
    this.clock = new ExchangeClock(this);
  }

  /**
   * Sends the request as soon as the concurrency limit has a place. Resolves when the client has got the answer, or has left. Rejects with
   * the refusal for the client.
   */
  run(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      // `prependListener`, so that the trail has the status 499 before the listener that ends and logs the exchange runs.
      this.exchange.response.prependListener('close', this.#onClientGone);
      this.#place.take(this.deadlineAt);
    });
  }

  begin(): void {
    const { operation, caller } = this.exchange;
    // Another exchange may call this function when it gives its place back. An error that is thrown here would end that exchange.
    try {
      // The gateway itself has one address, for callers of both modes.
      const mode = this.route.execute === undefined ? caller.mode : 'live';
      this.#target = this.#options.targets.pick(operation.upstream, mode);
      this.clock.start();
      this.route.budget.request();
      this.#attempt(this.#target);
    } catch (error) {
      if (this.#target !== undefined) this.#release();
      this.refuse(error);
    }
  }

  #attempt(target: Target): void {
    const { trail, response } = this.exchange;
    trail.target = target.origin;
    // The attempt begins after `pick`, which may have made it a trial of an open breaker. The breaker ignores attempts that began before
    // its wait was over.
    this.attemptAt = performance.now();
    if (this.count === 0) trail.forwardedAt = this.attemptAt;
    this.count += 1;
    trail.attempts = this.count;
    const relay = new Relay(this.exchange, this.route, this.#options.contractCheck, this);
    this.relay = relay;
    try {
      if (response.destroyed) this.#clientGone();
      else this.#send(target, relay, this);
    } catch (error) {
      relay.onResponseError(undefined, error as Error);
    }
  }

  /**
   * Call it before the attempt repeats its request, because the answer rules or the upstream credential ask for it. Returns false if it has
   * repeated it before, or if the body was streamed and is gone.
   */
  beginRepeat(reason: 'declared' | 'credential'): boolean {
    if (!this.#plan().mayRepeat(reason)) return false;
    this.count += 1;
    this.exchange.trail.attempts = this.count;
    this.beginAfterRead();
    return true;
  }

  /**
   * Call it when the record has been read, immediately before the request itself is sent: the attempt begins anew for the deadlines and the
   * log.
   */
  beginAfterRead(): void {
    this.attemptAt = performance.now();
    this.relay?.forgetAnswer();
    this.#forgetAnswer();
  }

  #plan(): RetryPlan {
    this.#retryPlan ??= new RetryPlan(this.#options.targets, this.exchange, this.route, this.deadlineAt);
    return this.#retryPlan;
  }

  #forgetAnswer(): void {
    this.exchange.trail.upstreamStatus = undefined;
    this.exchange.trail.upstreamMs = undefined;
  }

  /** A wait for a connection or for the credential counts as time in the queue, not as time of the service. */
  waited(waitedMs: number): void {
    this.#place.noteQueued(waitedMs);
    this.attemptAt += waitedMs;
  }

  relayed(): void {
    const status = this.relay?.answeredStatus;
    this.#endAttempt(outcomeOf(status, undefined), status);
    this.route.budget.answer();
    this.#isRelayed = true;
    this.#settle();
    this.#resolve();
  }

  failed(error: GatewayError, failure: AttemptFailure): void {
    const { wasSent, answeredStatus: status } = this.relay as Relay;
    const target = this.#target as Target;
    const isExcused = this.clock.excusesTarget || isClientsDoing(this.exchange, error);
    const isServerError = status !== undefined && status >= 500;
    this.#endAttempt(isExcused ? 'abandoned' : outcomeOf(status, error), isServerError ? status : error);
    // A 4xx counts as an answer: the upstream works (`takeForLost` in retry-budget.ts).
    if (failure === 'status' && !isServerError) this.route.budget.answer();
    const next = this.#plan().after({ target, error, failure, wasSent, status });
    if (next === undefined) this.refuse(this.#retryPlan?.error);
    else this.#retry(next);
  }

  abandoned(): void {
    this.#endAttempt('abandoned');
    this.clientLeft();
  }

  /**
   * Opens a stream. The exchange gives its place and its connection of the pool back, because a stream may last for hours and would keep
   * them from other requests.
   */
  openStream(kind: StreamKind, end: (why: StreamEnd) => void): void {
    this.#closeStream = this.#options.openStream(this.exchange, kind, end);
    this.leavePlaceAndPool();
  }

  leavePlaceAndPool(): void {
    if (this.#place.leave()) this.relay?.control?.detach();
  }

  #retry({ target, waitMs }: NextAttempt): void {
    this.#forgetAnswer();
    this.exchange.trail.bytesOut = 0;
    this.#target = target;
    const attempt = () => this.#attempt(target);
    if (waitMs === 0) attempt();
    else this.#pause = setTimeout(() => contain(attempt, (thrown) => this.refuse(thrown)), waitMs);
  }

  refuse(thrown: unknown): void {
    this.#settle();
    this.#reject(thrown);
  }

  endBetweenAttempts(): void {
    this.#release();
    this.refuse(this.#retryPlan?.error);
  }

  #clientGone(): void {
    if (this.#isRelayed) return;
    if (this.relay !== undefined) this.relay.clientGone();
    else {
      if (!this.#place.leaveQueue()) this.#release();
      this.clientLeft();
    }
  }

  /** Ends the attempt at the picked target without an outcome, because nothing was sent. */
  #release(): void {
    this.#options.targets.ended(this.#target as Target, 'abandoned', performance.now());
  }

  /** Ends the exchange of a client that has left: no target failed, and no answer can be sent. */
  clientLeft(): void {
    this.exchange.trail.clientLeft();
    this.#settle();
    this.#resolve();
  }

  #endAttempt(outcome: AttemptOutcome, failure?: SendingFailure): void {
    this.relay = undefined;
    this.#options.targets.ended(this.#target as Target, outcome, this.attemptAt, failure);
  }

  #settle(): void {
    this.clock.stop();
    if (this.#pause !== undefined) clearTimeout(this.#pause);
    this.#closeStream?.();
    // After a complete answer the listener stays, because to remove it costs more than to call it once; the call does nothing.
    if (!this.#isRelayed) this.exchange.response.off('close', this.#onClientGone);
    this.#place.leave();
  }
}
