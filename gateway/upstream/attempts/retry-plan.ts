// The retries of one request: decides whether it is sent again, to which target and when, and with which refusal it ends. Created when a
// first attempt fails, so that a successful request does not pay for it.

import type { GatewayError } from '../../errors.ts';
import type { Forwardable } from '../../exchange.ts';
import type { RetryReason } from '../../findings.ts';
import type { UpstreamRoute } from '../routes.ts';
import type { Target, Targets } from '../targets/targets.ts';
import { type AttemptFailure, backOffMs, isRepeatable, isStreamed, retryReasonOf } from './retry.ts';

export interface NextAttempt {
  readonly target: Target;
  readonly waitMs: number;
}

interface FailedAttempt {
  readonly target: Target;
  readonly error: GatewayError;
  readonly failure: AttemptFailure;
  /** True if a byte of the request may have been sent. */
  readonly wasSent: boolean;
  /** Status of the answer; 0 if none came. */
  readonly status: number;
}

export class RetryPlan {
  /** The refusal for the client if no attempt brings an answer. */
  error: GatewayError | undefined;
  readonly #targets: Targets;
  readonly #exchange: Forwardable;
  readonly #route: UpstreamRoute;
  /** `performance.now()` */
  readonly #deadlineAt: number;
  readonly #tried: Target[] = [];
  /** The reasons of all retries, as the trail has them. */
  readonly #reasons: RetryReason[] = [];
  #retries = 0;
  #wasSent = false;
  #wasRepeated = false;

  constructor(targets: Targets, exchange: Forwardable, route: UpstreamRoute, deadlineAt: number) {
    this.#targets = targets;
    this.#exchange = exchange;
    this.#route = route;
    this.#deadlineAt = deadlineAt;
  }

  /**
   * Returns the target of the next attempt, already picked, and the wait before it. Undefined: there is no retry, and `error` is the
   * answer.
   */
  after({ target, error, failure, wasSent, status }: FailedAttempt): NextAttempt | undefined {
    // The client gets the error of the last attempt that was sent, because that error says whether the service may have executed the
    // request. If no attempt was sent, it gets the error of the last attempt.
    if (wasSent || !this.#wasSent) this.error = error;
    this.#wasSent ||= wasSent;
    const reason = retryReasonOf(failure, wasSent, status);
    const { retriesMax, honoursIdempotencyKey } = this.#route;
    if (reason === undefined || this.#retries >= retriesMax) return undefined;
    if (!isRepeatable(this.#exchange, wasSent, honoursIdempotencyKey)) return undefined;
    this.#tried.push(target);
    const next = this.#pick();
    if (next === undefined) return undefined;
    const isTried = this.#tried.includes(next);
    // The upstream closed the connection as the request was sent, which says nothing about the target.
    const isClosedUnder = reason === 'connection_lost' && this.#retries === 0;
    const waitMs = !isTried || isClosedUnder ? 0 : backOffMs(this.#retries, error.details.retryAfterSeconds);
    // An attempt that was never sent caused no load, so a retry at another target adds none and costs no budget.
    const isFree = reason === 'not_sent' && !isTried;
    if (waitMs === undefined || !this.#isInTime(waitMs) || !(isFree || this.#pay(isClosedUnder))) {
      this.#targets.ended(next, 'abandoned', performance.now());
      return undefined;
    }
    this.#retries += 1;
    this.#note(reason);
    return { target: next, waitMs };
  }

  /** Whether the same attempt may send the request again, because the answer rules or the upstream credential ask for it. True once. */
  mayRepeat(reason: 'declared' | 'credential'): boolean {
    if (this.#wasRepeated || isStreamed(this.#exchange)) return false;
    this.#wasRepeated = true;
    this.#note(reason);
    return true;
  }

  /** Picks a target. Undefined if the breaker has opened in the meantime: the original failure is more informative. */
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
  #pay(isClosedUnder: boolean): boolean {
    const { budget } = this.#route;
    const isPaid = isClosedUnder ? budget.takeForLost() : budget.take();
    if (!isPaid) this.#exchange.trail.note('retryBudgetSpent', true);
    return isPaid;
  }

  #note(reason: RetryReason): void {
    this.#reasons.push(reason);
    this.#exchange.trail.note('retries', this.#reasons);
  }
}
