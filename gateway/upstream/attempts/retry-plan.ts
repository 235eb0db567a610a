// Plans the retries of one request: whether it is retried, at which target, when, and the refusal if it is not. The plan is created when
// the first attempt fails, and costs a successful request nothing. Reasons: docs/decisions/0012-retries.md.

import type { GatewayError } from '../../catalogue/errors.ts';
import type { Checked, Forwardable } from '../../exchange/exchange.ts';
import type { RetryReason } from '../../exchange/findings.ts';
import { isIdempotent } from '../../shared/http/words.ts';
import { serverErrorOf } from '../errors/upstream-errors.ts';
import type { AttemptFailure, FailedAttempt } from '../relay/relay-owner.ts';
import type { UpstreamRoute } from '../routes.ts';
import type { Target, Targets } from '../targets/targets.ts';

/** The longest Retry-After for which the gateway itself waits. A longer Retry-After goes to the client. */
const RETRY_AFTER_MAX_MS = 2_000;
const BACK_OFF_MS = 50;

export interface NextAttempt {
  readonly kind: 'retry';
  readonly target: Target;
  readonly waitMs: number;
}

/** No other attempt is made, and the client gets the error. */
interface GivenUp {
  readonly kind: 'refuse';
  readonly error: GatewayError;
}

export class RetryPlan {
  readonly #targets: Targets;
  readonly #exchange: Forwardable;
  readonly #route: UpstreamRoute;
  /** `performance.now()` */
  readonly #deadlineAt: number;
  readonly #tried: Target[] = [];
  /** The reasons of all retries, for the log. */
  readonly #reasons: RetryReason[] = [];
  #error: GatewayError | undefined;
  #retries = 0;
  #wasSent = false;
  #wasRepeated = false;

  constructor(targets: Targets, exchange: Forwardable, route: UpstreamRoute, deadlineAt: number) {
    this.#targets = targets;
    this.#exchange = exchange;
    this.#route = route;
    this.#deadlineAt = deadlineAt;
  }

  /** The refusal for the client if no attempt brings an answer; undefined before an attempt has failed. */
  get error(): GatewayError | undefined {
    return this.#error;
  }

  /** Returns the target of the next attempt, which is already picked, and the wait before that attempt; or the refusal for the client. */
  nextAfter(target: Target, failed: FailedAttempt): NextAttempt | GivenUp {
    // The client gets the error of the last attempt that was sent, because that error says whether the service may have executed the
    // request. If no attempt was sent, the client gets the error of the last attempt.
    const error = failed.wasSent || !this.#wasSent ? failed.error : (this.#error as GatewayError);
    this.#error = error;
    this.#wasSent ||= failed.wasSent;
    return this.#nextAfter(target, failed) ?? { kind: 'refuse', error };
  }

  /** Returns undefined if there is no retry. */
  #nextAfter(target: Target, { error, failure, wasSent, status }: FailedAttempt): NextAttempt | undefined {
    const reason = retryReasonOf(failure, wasSent, status);
    const { retriesMax, honoursIdempotencyKey } = this.#route;
    if (reason === undefined || this.#retries >= retriesMax) return undefined;
    if (!maySendAgain(this.#exchange, wasSent, honoursIdempotencyKey)) return undefined;
    this.#tried.push(target);
    const next = this.#pick();
    if (next === undefined) return undefined;
    const isTried = this.#tried.includes(next);
    // If the first attempt loses its connection, the connection was usually idle, and the upstream closed it while the request was sent.
    // The target works, so the retry may go to it without a pause.
    const wasIdleConnection = reason === 'connection_lost' && this.#retries === 0;
    const waitMs = !isTried || wasIdleConnection ? 0 : backOffMs(this.#retries, error.details.retryAfterSeconds);
    // An attempt that was never sent caused no load, so a retry at another target adds none and costs no budget.
    const isFree = reason === 'not_sent' && !isTried;
    if (waitMs === undefined || !this.#isInTime(waitMs) || !(isFree || this.#pay(wasIdleConnection))) {
      this.#targets.noteResult(next, 'abandoned', performance.now());
      return undefined;
    }
    this.#retries += 1;
    this.#note(reason);
    return { kind: 'retry', target: next, waitMs };
  }

  /**
   * Takes the one repetition of the request, which the answer rules or the upstream credential ask for. Returns false if it is taken
   * already, or if the body was streamed and is gone.
   */
  takeRepetition(reason: 'declared' | 'credential'): boolean {
    if (this.#wasRepeated || isStreamed(this.#exchange)) return false;
    this.#wasRepeated = true;
    this.#note(reason);
    return true;
  }

  /**
   * Picks a target. Returns undefined if the breaker has opened in the meantime. The client then gets the failure of the attempt, which
   * says more than the refusal of the breaker.
   */
  #pick(): Target | undefined {
    try {
      return this.#targets.pick(this.#exchange.operation.upstream, this.#exchange.caller.mode, this.#tried);
    } catch {
      return undefined;
    }
  }

  #isInTime(waitMs: number): boolean {
    return performance.now() + waitMs < this.#deadlineAt;
  }

  /** Takes the cost of a retry from the budget. Returns false if the budget is spent. */
  #pay(wasIdleConnection: boolean): boolean {
    const { budget } = this.#route;
    const isPaid = wasIdleConnection ? budget.takeForLost() : budget.take();
    if (!isPaid) this.#exchange.trail.note('retryBudgetSpent', true);
    return isPaid;
  }

  #note(reason: RetryReason): void {
    this.#reasons.push(reason);
    this.#exchange.trail.note('retries', this.#reasons);
  }
}

/**
 * Returns why the request may be retried; undefined if it must not be.
 *
 * @param wasSent whether a byte of the request may have been sent
 * @param status status of the upstream's answer; undefined if none came
 */
export function retryReasonOf(
  failure: AttemptFailure,
  wasSent: boolean,
  status: number | undefined,
): RetryReason | undefined {
  if (failure === 'other') return undefined;
  if (!wasSent) return 'not_sent';
  if (failure === 'lost') return 'connection_lost';
  if (failure === 'timeout') return 'timeout';
  const isRetried = status !== undefined && status >= 500 && serverErrorOf(status).isRetried;
  return isRetried ? (`status_${status}` as RetryReason) : undefined;
}

/**
 * Whether a retry is safe, because the client has received nothing, and either nothing was sent or the operation is idempotent by its
 * method or its key. A streamed body cannot be sent again after its first byte was sent.
 */
export function maySendAgain(exchange: Forwardable, wasSent: boolean, honoursIdempotencyKey: boolean): boolean {
  const { operation, request, response, headers } = exchange;
  if (response.headersSent || response.destroyed) return false;
  if (!wasSent) return !isStreamed(exchange) || !request.readableDidRead;
  if (isStreamed(exchange)) return false;
  if (isIdempotent(operation.method)) return true;
  return honoursIdempotencyKey && operation.idempotency !== 'off' && headers.has('idempotency-key');
}

/**
 * Returns the milliseconds before a failed target is tried again; undefined if the wait would be too long.
 *
 * @param retries of this request so far
 * @param retryAfterSeconds Retry-After of the answer, if any
 */
export function backOffMs(retries: number, retryAfterSeconds: number | undefined): number | undefined {
  if (retryAfterSeconds === undefined) return BACK_OFF_MS * 2 ** retries * (0.5 + Math.random() / 2);
  return retryAfterSeconds * 1000 <= RETRY_AFTER_MAX_MS ? retryAfterSeconds * 1000 : undefined;
}

/** Returns true if the body is streamed, so that no copy is available for a second attempt. */
export function isStreamed({ hasBody, rawBody, operation }: Checked): boolean {
  return hasBody && rawBody === undefined && operation.body === 'stream';
}
