// The attempts of one exchange with an upstream: picks a target for each attempt, starts the next attempt after a failure, and ends the
// exchange. The members show the state (upstream/forward.ts lists the states):
//
//   queued   no target               waits for its place (upstream/concurrency/exchange-place.ts)
//   sent     a target and a relay    an attempt is in progress, until its answer is judged and relayed (upstream/relay/relay.ts)
//   failed   a target                waits before the next attempt (retry-plan.ts)
//   ended    neither                 the client has its answer or its refusal, or has left
//
// In each state a deadline can pass (`checkDeadlines`), and the client can leave. The calls of an attempt that fails:
//
//   a deadline passes              #timedOut ─> Relay.interrupt ─> failed
//   the connection breaks          Relay.onResponseError ─> interrupt ─> failed
//   the status is 400 or above     Relay ─> failed
//   a rule or credential says so   JudgedAttempt.judge ─> Relay ─> failed
//   after each of them             failed ─> RetryPlan.nextAfter, then #retry or #refuse

import { type SendingFailure, upstreamFailure } from '../../catalogue/upstream-failure.ts';
import type { AnswerCheck } from '../../exchange/answer-check.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { StreamEnd, StreamKind } from '../../exchange/findings.ts';
import { contain } from '../../shared/faults.ts';
import { ExchangePlace } from '../concurrency/exchange-place.ts';
import type { DeadlineOwner } from '../deadlines/deadlines.ts';
import { ExchangeClock, type TimeSetting } from '../deadlines/exchange-clock.ts';
import type { AnswerJudge } from '../relay/answer-judge.ts';
import { Relay } from '../relay/relay.ts';
import type { FailedAttempt, RelayOwner } from '../relay/relay-owner.ts';
import type { UpstreamRoute } from '../routes.ts';
import { type AttemptResult, attemptResultOf, isClientFault } from '../targets/attempt-result.ts';
import type { Target, Targets } from '../targets/targets.ts';
import { type NextAttempt, RetryPlan } from './retry-plan.ts';

/** The options that all exchanges of one configuration share. */
export interface AttemptsOptions {
  readonly targets: Targets;
  readonly answerCheck: AnswerCheck;
  /** Counts an open stream until the returned function is called. Throws too_many_streams. serving/open-stream.ts */
  openStream(exchange: Forwardable, kind: StreamKind, end: (why: StreamEnd) => void): () => void;
}

/** Sends the request of an exchange once. The relay gets the answer. If the function throws, the attempt has failed. */
export type SendRequest = (target: Target, relay: Relay, attempts: Attempts) => void;

/** Makes the judge of one attempt. */
export type JudgeOf = (target: Target, attempts: Attempts) => AnswerJudge;

export class Attempts implements DeadlineOwner, RelayOwner {
  readonly exchange: Forwardable;
  readonly route: UpstreamRoute;
  readonly assertion: string | undefined;
  readonly clock: ExchangeClock;
  /** Number of attempts and repetitions so far. The latest may not be sent yet. */
  count = 0;
  readonly #options: AttemptsOptions;
  readonly #send: SendRequest;
  readonly #judgeOf: JudgeOf | undefined;
  readonly #place: ExchangePlace;
  #resolve!: () => void;
  #reject!: (error: unknown) => void;
  #target: Target | undefined;
  #relay: Relay | undefined;
  #pause: NodeJS.Timeout | undefined;
  #closeStream: (() => void) | undefined;
  /** Created when an attempt fails or is to repeat its request. */
  #retryPlan: RetryPlan | undefined;
  /** Whether the answer took longer than maxStreamMs. This is not a failure of the target. */
  #isOverlong = false;
  /** Whether the client has the whole answer. */
  #isRelayed = false;
  readonly #onClose = () => {
    const relay = this.#relay;
    if (this.#isRelayed || relay?.outlastsClient === true) return;
    relay?.abort();
    this.clientLeft();
  };

  /**
   * The arguments are positional, because an options object would be one more allocation for each request.
   *
   * @param deadlineAt the latest moment for the head of the answer, as `performance.now()` counts
   * @param assertion the token that names the caller to the upstream; undefined if the upstream is not told who calls
   * @param judgeOf undefined if the upstream has neither rules nor a credential
   */
  constructor(
    options: AttemptsOptions,
    exchange: Forwardable,
    route: UpstreamRoute,
    deadlineAt: number,
    assertion: string | undefined,
    send: SendRequest,
    judgeOf?: JudgeOf,
  ) {
    this.exchange = exchange;
    this.route = route;
    this.assertion = assertion;
    this.#options = options;
    this.#send = send;
    this.#judgeOf = judgeOf;
    this.#place = new ExchangePlace(exchange, route.concurrency);
    this.clock = new ExchangeClock(exchange, route, deadlineAt);
  }

  /**
   * Sends the request as soon as the concurrency limit has a place. Resolves when the client has got the answer, or has left. Rejects with
   * the refusal for the client.
   */
  run(): Promise<void> {
    const { response } = this.exchange;
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      // This listener comes first, because the trail needs the status 499 before the listener that ends and logs the exchange runs.
      response.prependListener('close', this.#onClose);
      if (this.#place.take()) this.#begin();
      else if (response.destroyed) this.clientLeft();
      else
        this.#place.wait(this.clock.deadlineAt, (refusal) =>
          refusal === undefined ? this.#begin() : this.#refuse(refusal),
        );
    });
  }

  /**
   * Sends the request for the first time. The caller may be another exchange that gives its place back. An error here must end this
   * exchange, and not that one.
   */
  #begin(): void {
    const { operation, caller } = this.exchange;
    try {
      // The gateway itself has one address, for callers of both modes.
      const mode = this.route.execute === undefined ? caller.mode : 'live';
      this.#target = this.#options.targets.pick(operation.upstream, mode);
      this.clock.start(this);
      this.route.budget.noteRequest();
      this.#attempt(this.#target);
    } catch (error) {
      this.#refuse(error);
    }
  }

  #attempt(target: Target): void {
    const { trail, response } = this.exchange;
    trail.target = target.origin;
    this.clock.noteAttempt();
    const relay = new Relay(this, this.#options.answerCheck, this.#judgeOf?.(target, this));
    if (this.count === 0) trail.forwardedAt = this.clock.startedAt;
    this.#countOne();
    this.#relay = relay;
    try {
      if (response.destroyed) this.clientLeft();
      else this.#send(target, relay, this);
    } catch (error) {
      relay.onResponseError(undefined, error as Error);
    }
  }

  /** Call it if the attempt has sent nothing, because the gateway has no credential that it may send. */
  notSent(): void {
    if (this.count === 1) this.exchange.trail.target = undefined;
  }

  #countOne(): void {
    this.count += 1;
    this.exchange.trail.attempts = this.count;
  }

  /**
   * Call it before the attempt repeats its request, because the answer rules or the upstream credential ask for it. Returns false if the
   * attempt has repeated its request before, or if the body was streamed and is gone. Otherwise the repetition is counted.
   */
  takeRepetition(reason: 'declared' | 'credential'): boolean {
    const isTaken = this.#plan().takeRepetition(reason);
    if (isTaken) this.#countOne();
    return isTaken;
  }

  #plan(): RetryPlan {
    this.#retryPlan ??= new RetryPlan(this.#options.targets, this.exchange, this.route, this.clock.deadlineAt);
    return this.#retryPlan;
  }

  relayed(status: number): void {
    this.#endAttempt(attemptResultOf(status, undefined), status);
    this.route.budget.noteAnswer();
    this.#isRelayed = true;
    this.#end();
    this.#resolve();
  }

  /** Retries the request, or refuses the exchange. */
  failed(attempt: FailedAttempt): void {
    const { error, failure, status } = attempt;
    const target = this.#target as Target;
    const isExcused = this.#isOverlong || this.clock.isWaiting || isClientFault(this.exchange, error);
    const isServerError = status !== undefined && status >= 500;
    this.#endAttempt(isExcused ? 'abandoned' : attemptResultOf(status, error), isServerError ? status : error);
    // A 4xx is treated as an answer, because the upstream works (`takeForLost` in retry-budget.ts).
    if (failure === 'status' && !isServerError) this.route.budget.noteAnswer();
    const next = this.#plan().nextAfter(target, attempt);
    if (next.kind === 'retry') this.#retry(next);
    else this.#refuse(next.error);
  }

  #retry({ target, waitMs }: NextAttempt): void {
    const { trail } = this.exchange;
    trail.upstreamStatus = undefined;
    trail.upstreamMs = undefined;
    trail.bytesOut = 0;
    this.#target = target;
    const attempt = () => this.#attempt(target);
    if (waitMs === 0) attempt();
    else this.#pause = setTimeout(() => contain(attempt, (thrown) => this.#refuse(thrown)), waitMs);
  }

  /**
   * Opens a stream. The exchange gives back its place and its connection of the pool, because a stream may last for hours and would keep
   * both from other requests.
   */
  openStream(kind: StreamKind, end: (why: StreamEnd) => void): void {
    this.#closeStream = this.#options.openStream(this.exchange, kind, end);
    this.#giveBackPlaceAndConnection();
  }

  /** The answer continues. */
  #giveBackPlaceAndConnection(): void {
    if (this.#place.giveBack()) this.#relay?.detach();
  }

  checkDeadlines(now: number): void {
    // From the deadline on, an answer that still passes to its client holds no place. Otherwise clients that read slowly would take all
    // places of the upstream.
    if (this.clock.passesLate(now)) this.#giveBackPlaceAndConnection();
    this.#relay?.stream?.keepAlive(now);
    const passed = this.clock.passed(now, this.#relay?.mayPause === true);
    if (passed === undefined) return;
    contain(
      () => this.#timedOut(passed, now),
      (thrown) => this.#refuse(thrown),
    );
  }

  #timedOut(deadline: TimeSetting, now: number): void {
    const relay = this.#relay;
    if (relay === undefined) {
      // Between two attempts, the client gets the failure of the last one.
      this.#refuse(this.#retryPlan?.error);
      return;
    }
    this.#isOverlong = deadline === 'maxStreamMs';
    if (this.#isOverlong && relay.stream !== undefined) {
      relay.stream.endEarly('too_long');
      return;
    }
    this.exchange.trail.note('timeout', this.clock.settingOf(deadline));
    const error = upstreamFailure('upstream_timeout', relay.wasSent ? 'http_response_timeout' : 'connection_timeout');
    relay.interrupt(error, now + 1 < this.clock.deadlineAt ? 'timeout' : 'other');
  }

  /** Ends the exchange with the refusal for its client. */
  #refuse(thrown: unknown): void {
    this.#endAttempt('abandoned');
    this.#end();
    this.#reject(thrown);
  }

  /** Ends the exchange of a client that has left. No target failed, and no answer can be sent. */
  clientLeft(): void {
    this.#place.leaveQueue();
    this.#endAttempt('abandoned');
    this.exchange.trail.clientLeft();
    this.#end();
    this.#resolve();
  }

  /** Has no effect if no target is picked. */
  #endAttempt(result: AttemptResult, failure?: SendingFailure): void {
    const target = this.#target;
    if (target === undefined) return;
    const startedAt = this.#relay === undefined ? performance.now() : this.clock.startedAt;
    this.#target = undefined;
    this.#relay = undefined;
    this.clock.noteAttemptEnded();
    this.#options.targets.noteResult(target, result, startedAt, failure);
  }

  #end(): void {
    this.clock.stop();
    if (this.#pause !== undefined) clearTimeout(this.#pause);
    this.#closeStream?.();
    // After a complete answer the listener stays, because removing it costs more than calling it once, and the call does nothing.
    if (!this.#isRelayed) this.exchange.response.off('close', this.#onClose);
    this.#place.giveBack();
  }
}
