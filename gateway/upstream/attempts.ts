// One exchange with an upstream: its place there, its deadline, its client, and the attempts it takes until one of them is the answer.
// A class, as the relay is: there is one per request, and methods on a prototype cost nothing to make.

import type { DenseSetEntry } from '../dense-set.ts';
import type { GatewayError } from '../errors.ts';
import type { Caller, Fresh, RetryReason } from '../exchange.ts';
import type { DeadlineOwner } from './deadlines.ts';
import { upstreamFailure } from './failure.ts';
import type { SendingFailure } from './failure-text.ts';
import type { OrganizationShare, QueueEntry, Waiter } from './fair-queue.ts';
import { type AttemptOutcome, isClientsDoing, outcomeOf } from './outcome.ts';
import { type AnswerJudge, Relay, type Relayed } from './relay.ts';
import { type AttemptFailure, isStreamed, retryReasonOf } from './retry.ts';
import { createRetryPlan, type FailedAttempt, type NextAttempt, type RetryPlan } from './retry-plan.ts';
import type { UpstreamRoute } from './routes.ts';
import type { Target, Targets } from './targets.ts';

/** What all sendings of one configuration share. */
export interface AttemptsOptions {
  readonly targets: Targets;
  readonly answers: AnswerJudge;
}

/** Sends the request once; the answer goes to the relay, by way of whoever judges it first. What it throws ends the exchange. */
export type Dispatch = (target: Target, relay: Relay, sending: Attempts) => void;

/**
 * Resolves when the exchange has ended, also when its client has left. Rejects with what the client is to be told.
 *
 * @param deadlineAt as `performance.now()` counts
 */
export function sendWithAttempts(
  options: AttemptsOptions,
  fresh: Fresh,
  way: UpstreamRoute,
  deadlineAt: number,
  dispatch: Dispatch,
): Promise<void> {
  return new Promise((resolve, reject) => {
    new Attempts(options, fresh, way, deadlineAt, dispatch, resolve, reject);
  });
}

/** Of its time, a request may wait this much for a place: what is left has to do for an answer. */
const WAITING_PART = 0.9;

export class Attempts implements Relayed, Waiter, DeadlineOwner {
  readonly watchesBytes: boolean;
  attemptAt = 0;
  readonly #options: AttemptsOptions;
  readonly #fresh: Fresh;
  readonly #way: UpstreamRoute;
  readonly #dispatch: Dispatch;
  readonly #resolve: () => void;
  readonly #reject: (error: unknown) => void;
  /** As `performance.now()` counts. */
  readonly #deadlineAt: number;
  #watched: DenseSetEntry<DeadlineOwner> | undefined;
  #isClockStopped = false;
  #pause: NodeJS.Timeout | undefined;
  /** Its place in the line, and then at the upstream until that is given back. */
  #waiter: QueueEntry | undefined;
  #place: OrganizationShare | undefined;
  #target: Target | undefined;
  #relay: Relay | undefined;
  #repeats: RetryPlan | undefined;
  /** What the client is told if no attempt brings an answer. */
  #error: GatewayError | undefined;
  #wasSent = false;
  #wasAskedAgain = false;
  readonly #onClientGone = () => this.#clientGone();

  /**
   * Begins as soon as there is a place. Whoever makes one hears of its end, by `resolve` or with what the client is to be told by `reject`.
   *
   * @param deadlineAt as `performance.now()` counts
   */
  constructor(
    options: AttemptsOptions,
    fresh: Fresh,
    way: UpstreamRoute,
    deadlineAt: number,
    dispatch: Dispatch,
    resolve: () => void,
    reject: (error: unknown) => void,
  ) {
    this.#options = options;
    this.#fresh = fresh;
    this.#way = way;
    this.#dispatch = dispatch;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#deadlineAt = deadlineAt;
    this.watchesBytes = way.idleTimeoutMs !== undefined;
    // Before the listener that ends the exchange and has it logged.
    fresh.response.prependListener('close', this.#onClientGone);
    const organization = whoseShare(fresh.caller);
    const place = way.lane.enter(organization);
    if (place !== undefined) this.#begin(place);
    else if (fresh.response.destroyed) this.#leave();
    else {
      const withinMs = (deadlineAt - performance.now()) * WAITING_PART;
      this.#waiter = way.lane.wait(organization, withinMs, this);
    }
  }

  entered(place: OrganizationShare, waitedMs: number): void {
    this.#waiter = undefined;
    this.#fresh.trail.queuedMs = waitedMs;
    this.#begin(place);
  }

  refused(error: GatewayError, waitedMs: number): void {
    this.#waiter = undefined;
    this.#fresh.trail.queuedMs = waitedMs;
    this.#settle();
    this.#reject(error);
  }

  #begin(place: OrganizationShare): void {
    const { operation, caller } = this.#fresh;
    this.#place = place;
    // Whoever let it in from the line could do nothing with what is thrown here.
    try {
      const target = this.#options.targets.pick(operation.upstream, caller.mode);
      this.#target = target;
      this.#watched = this.#way.watch.add(this);
      this.#way.budget.request();
      this.#attempt(target, performance.now());
    } catch (error) {
      if (this.#target !== undefined) this.#release();
      this.#settle();
      this.#reject(error);
    }
  }

  #attempt(target: Target, at: number): void {
    const { trail, response } = this.#fresh;
    this.#target = target;
    trail.target = target.origin;
    trail.forwardedAt ??= at;
    this.attemptAt = at;
    trail.attempts += 1;
    const relay = new Relay(this.#fresh, this.#options.answers, this);
    this.#relay = relay;
    if (response.destroyed) {
      this.#clientGone();
      return;
    }
    try {
      this.#dispatch(target, relay, this);
    } catch (error) {
      relay.onResponseError(undefined, error as Error);
    }
  }

  /**
   * Whether the request may go out once more to the same target, since its rules or its credential ask for it: once, and never with a
   * body that is gone.
   */
  mayAskAgain(reason: 'declared' | 'credential'): boolean {
    if (this.#wasAskedAgain || isStreamed(this.#fresh)) return false;
    this.#wasAskedAgain = true;
    this.#noteRetry(reason);
    this.#fresh.trail.attempts += 1;
    this.attemptAt = performance.now();
    this.#relay?.noteAgain();
    return true;
  }

  #noteRetry(reason: RetryReason): void {
    const { trail } = this.#fresh;
    trail.retries ??= [];
    trail.retries.push(reason);
    trail.upstreamStatus = undefined;
    trail.upstreamMs = undefined;
  }

  /** The client has the whole answer. */
  relayed(): void {
    const { upstreamStatus } = this.#fresh.trail;
    this.#endAttempt(outcomeOf(upstreamStatus, undefined), upstreamStatus);
    this.#way.budget.answer();
    this.#settle();
    this.#resolve();
  }

  /**
   * The attempt has no answer for the client.
   *
   * @param status of the upstream's answer, 0 without one
   */
  failed(error: GatewayError, failure: AttemptFailure, wasSent: boolean, status: number): void {
    const target = this.#target as Target;
    const isClients = isClientsDoing(this.#fresh, error);
    const outcome = isClients ? 'abandoned' : outcomeOf(this.#fresh.trail.upstreamStatus, error);
    this.#endAttempt(outcome, status >= 500 ? status : error);
    // What is true of an attempt that was never sent would be wrong of a request of which an earlier one was.
    if (wasSent || !this.#wasSent) this.#error = error;
    this.#wasSent ||= wasSent;
    // A refusal of the request is an answer too; it shows that the connections work.
    if (failure === 'status' && status < 500) this.#way.budget.answer();
    const reason = retryReasonOf(failure, wasSent, status);
    const next =
      reason && this.#nextAfter({ target, reason, wasSent, retryAfterSeconds: error.details.retryAfterSeconds });
    if (next) this.#again(next, reason);
    else this.#giveUp();
  }

  #nextAfter(failed: FailedAttempt): NextAttempt | undefined {
    this.#repeats ??= createRetryPlan(this.#options.targets, this.#fresh, this.#way, this.#deadlineAt);
    return this.#repeats.after(failed);
  }

  /** Nobody waits for the answer any more, unless it is to be kept. */
  abandoned(): void {
    this.#endAttempt('abandoned');
    this.#leave();
  }

  /** From here on, the exchange ends by itself. */
  stopClock(): void {
    this.#isClockStopped = true;
    if (this.#watched !== undefined) this.#way.watch.remove(this.#watched);
  }

  #again({ target, waitMs }: NextAttempt, reason: RetryReason): void {
    this.#noteRetry(reason);
    this.#fresh.trail.bytesOut = 0;
    this.#target = target;
    if (waitMs === 0) this.#attempt(target, performance.now());
    else this.#pause = setTimeout(resume, waitMs, this);
  }

  /** After a pause between two attempts. */
  resume(): void {
    this.#pause = undefined;
    this.#attempt(this.#target as Target, performance.now());
  }

  look(now: number): void {
    // Timers count whole milliseconds.
    if (now + 1 < this.#dueAt(now)) return;
    // An event loop that was busy comes to its timers before it reads what has arrived meanwhile.
    setImmediate(endIfOverdue, this);
  }

  endIfOverdue(): void {
    if (this.#isClockStopped) return;
    const now = performance.now();
    if (now + 1 < this.#dueAt(now)) return;
    if (now + 1 < this.#deadlineAt) this.#relay?.abort(this.#timeout(), 'timeout');
    else if (this.#relay === undefined) this.#endPause();
    else this.#relay.abort(this.#timeout(), 'other');
  }

  #timeout(): GatewayError {
    const wasSent = this.#relay?.wasSent === true;
    return upstreamFailure('upstream_timeout', wasSent ? 'http_response_timeout' : 'connection_timeout');
  }

  #dueAt(now: number): number {
    const { firstByteTimeoutMs = Number.POSITIVE_INFINITY, idleTimeoutMs = Number.POSITIVE_INFINITY } = this.#way;
    if (this.#relay === undefined) return this.#deadlineAt;
    const byteAt = this.#relay.lastByteAt(now);
    return Math.min(
      this.#deadlineAt,
      byteAt === undefined ? this.attemptAt + firstByteTimeoutMs : byteAt + idleTimeoutMs,
    );
  }

  #clientGone(): void {
    if (this.#relay !== undefined) this.#relay.clientGone();
    else if (this.#waiter !== undefined) {
      this.#way.lane.leaveLine(this.#waiter);
      this.#fresh.trail.queuedMs = performance.now() - this.#waiter.sinceMs;
      this.#leave();
    } else {
      this.#release();
      this.#leave();
    }
  }

  /** The time is over between two attempts. */
  #endPause(): void {
    this.#release();
    this.#giveUp();
  }

  /** The target that was picked for the attempt after the pause gets none. */
  #release(): void {
    this.#options.targets.ended(this.#target as Target, 'abandoned', performance.now());
  }

  /** Nobody is to blame and nothing can be answered. */
  #leave(): void {
    const { trail } = this.#fresh;
    // Unless it was refused meanwhile, as a body that streams for too long is.
    if (trail.refusal === undefined) trail.status = 499;
    this.#settle();
    this.#resolve();
  }

  #giveUp(): void {
    this.#settle();
    this.#reject(this.#error);
  }

  #endAttempt(outcome: AttemptOutcome, failure?: SendingFailure): void {
    this.#relay = undefined;
    this.#options.targets.ended(this.#target as Target, outcome, this.attemptAt, failure);
  }

  #settle(): void {
    this.stopClock();
    clearTimeout(this.#pause);
    this.#fresh.response.off('close', this.#onClientGone);
    this.#leavePlace();
  }

  #leavePlace(): void {
    const place = this.#place;
    this.#place = undefined;
    if (place !== undefined) this.#way.lane.leave(place);
  }
}

/** Whoever has no organization counts for themselves. */
function whoseShare({ organization, subject }: Caller): string {
  return organization === undefined ? subject : organization.id;
}

function endIfOverdue(sending: Attempts): void {
  sending.endIfOverdue();
}

function resume(sending: Attempts): void {
  sending.resume();
}
