// One exchange with an upstream: its place in the concurrency limit, its deadline, its client, and its attempts until one is answered.
// A class, as the relay is: each request creates one, and methods on a prototype cost nothing to create.

import type { Caller } from '../caller.ts';
import type { GatewayError } from '../errors.ts';
import type { Fresh } from '../exchange.ts';
import type { RetryReason, StreamEnd, StreamKind } from '../findings.ts';
import type { DenseSetEntry } from '../shared/dense-set.ts';
import { contain } from '../shared/faults.ts';
import type { DeadlineOwner } from './deadlines.ts';
import type { Compression } from './encoding/compression.ts';
import { upstreamFailure } from './failure.ts';
import type { SendingFailure } from './failure-text.ts';
import type { OrganizationShare, QueueEntry, Waiter } from './fair-queue.ts';
import type { ContractCheck } from './inspected-body.ts';
import { type AttemptOutcome, isClientsDoing, outcomeOf } from './outcome.ts';
import { Relay, type Relayed } from './relay.ts';
import { type AttemptFailure, isStreamed, retryReasonOf } from './retry.ts';
import { createRetryPlan, type FailedAttempt, type NextAttempt, type RetryPlan } from './retry-plan.ts';
import type { UpstreamRoute } from './routes.ts';
import type { Target, Targets } from './targets.ts';

/** Shared by all exchanges of one configuration. */
export interface AttemptsOptions {
  readonly targets: Targets;
  readonly contractCheck: ContractCheck;
  /** Counts an open stream until the returned function is called. Throws too_many_streams. */
  openStream(fresh: Fresh, kind: StreamKind, end: (why: StreamEnd) => void): () => void;
}

export interface RequestSender {
  /** Sends the request once. The answer goes to the relay, after the rules and the credential of the upstream. What it throws fails the attempt. */
  send(target: Target, relay: Relay, attempts: Attempts): void;
}

/**
 * Resolves when the exchange has ended, also when its client has left. Rejects with the refusal for the client.
 *
 * @param deadlineAt `performance.now()`
 */
export function sendWithAttempts(
  options: AttemptsOptions,
  fresh: Fresh,
  route: UpstreamRoute,
  deadlineAt: number,
  sender: RequestSender,
): Promise<void> {
  return new Promise((resolve, reject) => {
    new Attempts(options, fresh, route, deadlineAt, sender, resolve, reject);
  });
}

/** The part of its time that a request may spend in the queue: the rest is for the answer. */
const WAITING_PART = 0.9;

export class Attempts implements Relayed, Waiter, DeadlineOwner {
  attemptAt = 0;
  readonly #options: AttemptsOptions;
  readonly #fresh: Fresh;
  readonly #route: UpstreamRoute;
  readonly #sender: RequestSender;
  readonly #resolve: () => void;
  readonly #reject: (error: unknown) => void;
  /** `performance.now()` */
  readonly #deadlineAt: number;
  #watched: DenseSetEntry<DeadlineOwner> | undefined;
  #isClockStopped = false;
  /** The answer took longer than maxStreamMs, which is no failure of the target. */
  #isOverlong = false;
  #pause: NodeJS.Timeout | undefined;
  /** Its entry in the queue; then its place in the concurrency limit, until it leaves that. */
  #waiter: QueueEntry | undefined;
  #place: OrganizationShare | undefined;
  #target: Target | undefined;
  #relay: Relay | undefined;
  #closeStream: (() => void) | undefined;
  #repeats: RetryPlan | undefined;
  /** The refusal for the client if no attempt brings an answer. */
  #error: GatewayError | undefined;
  #count = 0;
  #retries: RetryReason[] | undefined;
  #wasSent = false;
  #wasAskedAgain = false;
  /** The client has the whole answer. */
  #isRelayed = false;
  readonly #onClientGone = () => this.#clientGone();

  /**
   * Begins as soon as the concurrency limit has a place. At the end calls `resolve`, or `reject` with the refusal for the client.
   *
   * @param deadlineAt `performance.now()`
   */
  constructor(
    options: AttemptsOptions,
    fresh: Fresh,
    route: UpstreamRoute,
    deadlineAt: number,
    sender: RequestSender,
    resolve: () => void,
    reject: (error: unknown) => void,
  ) {
    this.#options = options;
    this.#fresh = fresh;
    this.#route = route;
    this.#sender = sender;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#deadlineAt = deadlineAt;
    // Before the listener that ends the exchange and logs it.
    fresh.response.prependListener('close', this.#onClientGone);
    const organization = shareOf(fresh.caller);
    const place = route.concurrency.enter(organization);
    if (place !== undefined) this.#begin(place);
    else if (fresh.response.destroyed) this.#leave();
    else {
      const now = performance.now();
      this.#waiter = route.concurrency.wait(organization, (deadlineAt - now) * WAITING_PART, this, now);
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
    // The request that left its place to this one cannot handle an error of it.
    try {
      const target = this.#options.targets.pick(operation.upstream, caller.mode);
      this.#target = target;
      this.#watched = this.#route.watch.add(this);
      this.#route.budget.request();
      // Read after the choice: a breaker that has just let the request in ignores attempts that began before.
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
    if (this.#count === 0) trail.forwardedAt = at;
    this.attemptAt = at;
    this.#count += 1;
    trail.attempts = this.#count;
    const relay = new Relay(this.#fresh, this.#options.contractCheck, this);
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
   * Begins to send the request again to the same target, because the answer rules or the upstream credential ask for it. False: it was sent
   * again before, or its body was streamed and is gone.
   */
  beginRepeat(reason: 'declared' | 'credential'): boolean {
    if (this.#wasAskedAgain || isStreamed(this.#fresh)) return false;
    this.#wasAskedAgain = true;
    this.#noteRetry(reason);
    this.#count += 1;
    this.#fresh.trail.attempts = this.#count;
    this.attemptAt = performance.now();
    this.#relay?.noteAgain();
    return true;
  }

  /** The gateway has read what the request depends on, and sends it now. */
  beginAfterRead(): void {
    this.attemptAt = performance.now();
    this.#relay?.noteAgain();
    this.#forgetAnswer();
  }

  #noteRetry(reason: RetryReason): void {
    this.#retries ??= [];
    this.#retries.push(reason);
    this.#fresh.trail.note('retries', this.#retries);
    this.#forgetAnswer();
  }

  #forgetAnswer(): void {
    this.#fresh.trail.upstreamStatus = undefined;
    this.#fresh.trail.upstreamMs = undefined;
  }

  get authorities(): ReadonlySet<string> {
    return this.#route.authorities;
  }

  get compression(): Compression | undefined {
    return this.#route.compression;
  }

  /** The client has the whole answer. */
  relayed(): void {
    const status = this.#relay?.answeredStatus;
    this.#endAttempt(outcomeOf(status, undefined), status);
    this.#route.budget.answer();
    this.#isRelayed = true;
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
    const isNone = isClients || this.#isOverlong;
    const outcome = isNone ? 'abandoned' : outcomeOf(this.#relay?.answeredStatus, error);
    this.#endAttempt(outcome, status >= 500 ? status : error);
    // The error of an attempt that was not sent must not replace that of an earlier one that was.
    if (wasSent || !this.#wasSent) this.#error = error;
    this.#wasSent ||= wasSent;
    // A refusal of the request is an answer too: it shows that the connections work.
    if (failure === 'status' && status < 500) this.#route.budget.answer();
    const reason = retryReasonOf(failure, wasSent, status);
    const next =
      reason && this.#nextAfter({ target, reason, wasSent, retryAfterSeconds: error.details.retryAfterSeconds });
    if (next) this.#again(next, reason);
    else this.#giveUp();
  }

  #nextAfter(failed: FailedAttempt): NextAttempt | undefined {
    this.#repeats ??= createRetryPlan(this.#options.targets, this.#fresh, this.#route, this.#deadlineAt);
    return this.#repeats.after(failed);
  }

  /** The client has left, and the answer is not stored either. */
  abandoned(): void {
    this.#endAttempt('abandoned');
    this.#leave();
  }

  /** Deadlines no longer apply. */
  stopClock(): void {
    this.#isClockStopped = true;
    if (this.#watched !== undefined) this.#route.watch.remove(this.#watched);
  }

  /** An open stream leaves at once what others wait for. */
  openStream(kind: StreamKind, end: (why: StreamEnd) => void): void {
    this.#closeStream = this.#options.openStream(this.#fresh, kind, end);
    this.leavePlaceAndPool();
  }

  /** From here on the answer occupies neither a place in the concurrency limit nor one of the connections of the pool. */
  leavePlaceAndPool(): void {
    if (this.#place === undefined) return;
    this.#leavePlace();
    this.#relay?.leavePool();
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

  /** Ends the exchange with an error of the gateway's own, thrown where no stage can catch it. */
  endWith(thrown: unknown): void {
    this.#settle();
    this.#reject(thrown);
  }

  look(now: number): void {
    // An answer that takes longer than its head may holds no place: slow clients would occupy the upstream.
    if (now >= this.#deadlineAt && this.#relay?.passesSince !== undefined) this.leavePlaceAndPool();
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
    if (relay === undefined) this.#endPause();
    else {
      this.#isOverlong = now + 1 >= (relay.passesSince ?? now) + this.#route.maxStreamMs;
      if (this.#isOverlong && relay.endStream('too_long')) return;
      relay.abort(this.#timeout(), now + 1 < this.#deadlineAt ? 'timeout' : 'other');
    }
  }

  #timeout(): GatewayError {
    const wasSent = this.#relay?.wasSent === true;
    return upstreamFailure('upstream_timeout', wasSent ? 'http_response_timeout' : 'connection_timeout');
  }

  #dueAt(now: number): number {
    const { firstByteTimeoutMs = Number.POSITIVE_INFINITY, idleTimeoutMs, maxStreamMs } = this.#route;
    if (this.#relay === undefined) return this.#deadlineAt;
    const byteAt = this.#relay.lastByteAt(now);
    const { passesSince } = this.#relay;
    const dueAt = byteAt === undefined ? this.attemptAt + firstByteTimeoutMs : byteAt + idleTimeoutMs;
    return Math.min(dueAt, passesSince === undefined ? this.#deadlineAt : passesSince + maxStreamMs);
  }

  #clientGone(): void {
    if (this.#isRelayed) return;
    if (this.#relay !== undefined) this.#relay.clientGone();
    else if (this.#waiter !== undefined) {
      this.#route.concurrency.leaveQueue(this.#waiter);
      this.#fresh.trail.queuedMs = performance.now() - this.#waiter.sinceMs;
      this.#leave();
    } else {
      this.#release();
      this.#leave();
    }
  }

  /** The deadline passed between two attempts. */
  #endPause(): void {
    this.#release();
    this.#giveUp();
  }

  /** Gives back the target that was picked for the attempt after the pause. */
  #release(): void {
    this.#options.targets.ended(this.#target as Target, 'abandoned', performance.now());
  }

  /** The client left: no target failed, and no answer can be sent. */
  #leave(): void {
    this.#fresh.trail.clientLeft();
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
    if (this.#pause !== undefined) clearTimeout(this.#pause);
    this.#closeStream?.();
    // The response ends with its answer: taking the listener away from it costs more than a call that does nothing.
    if (!this.#isRelayed) this.#fresh.response.off('close', this.#onClientGone);
    this.#leavePlace();
  }

  #leavePlace(): void {
    const place = this.#place;
    this.#place = undefined;
    if (place !== undefined) this.#route.concurrency.leave(place);
  }
}

/** The key of the fair queue: a caller without an organization counts alone. */
function shareOf({ organization, subject }: Caller): string {
  return organization === undefined ? subject : organization.id;
}

function resume(attempts: Attempts): void {
  contain(
    () => attempts.resume(),
    (thrown) => attempts.endWith(thrown),
  );
}
