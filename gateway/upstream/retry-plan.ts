// Plans the retries of one request. Created when the first attempt fails, so that a successful request does not pay for it.

import type { Fresh } from '../exchange.ts';
import type { RetryReason } from '../findings.ts';
import { backOffMs, isRepeatable } from './retry.ts';
import type { UpstreamRoute } from './routes.ts';
import type { Target, Targets } from './targets.ts';

export interface NextAttempt {
  readonly target: Target;
  readonly waitMs: number;
}

export interface FailedAttempt {
  readonly target: Target;
  readonly reason: RetryReason;
  /** True if a byte of the request may have been sent. */
  readonly wasSent: boolean;
  /** Retry-After of the answer, if any. */
  readonly retryAfterSeconds: number | undefined;
}

export interface RetryPlan {
  /** The target of the next attempt, already picked, and the wait before it. Undefined: no retry, the failure is the answer. */
  after(failed: FailedAttempt): NextAttempt | undefined;
}

/** @param deadlineAt as `performance.now()` counts */
export function createRetryPlan(targets: Targets, fresh: Fresh, route: UpstreamRoute, deadlineAt: number): RetryPlan {
  const { operation, caller, trail } = fresh;
  const tried: Target[] = [];
  let repeats = 0;

  /** Undefined if the breaker has opened in the meantime: the original failure is more informative. */
  function pick(): Target | undefined {
    try {
      return targets.pick(operation.upstream, caller.mode, tried);
    } catch {
      return undefined;
    }
  }

  /** True for the first loss of a connection: the upstream closed it as the request was sent, which says nothing about the target. */
  function isClosedUnder({ reason }: FailedAttempt): boolean {
    return reason === 'connection_lost' && repeats === 0;
  }

  function isInTime(waitMs: number | undefined): waitMs is number {
    return waitMs !== undefined && performance.now() + waitMs < deadlineAt;
  }

  /**
   * Takes the cost of a retry from the budget; false: the budget is spent. An attempt that was never sent caused no load, so another target
   * receives no more than it would have: such a retry is free.
   */
  function payFor(failed: FailedAttempt, isTried: boolean): boolean {
    if (failed.reason === 'not_sent' && !isTried) return true;
    const isPaid = isClosedUnder(failed) ? route.budget.takeForLost() : route.budget.take();
    if (!isPaid) trail.note('retryBudgetSpent', true);
    return isPaid;
  }

  return {
    after(failed) {
      if (repeats >= route.retriesMax || !isRepeatable(fresh, failed.wasSent, route.honoursIdempotencyKey))
        return undefined;
      tried.push(failed.target);
      const target = pick();
      if (target === undefined) return undefined;
      const isTried = tried.includes(target);
      const waitMs = !isTried || isClosedUnder(failed) ? 0 : backOffMs(repeats, failed.retryAfterSeconds);
      if (!isInTime(waitMs) || !payFor(failed, isTried)) {
        targets.ended(target, 'abandoned', performance.now());
        return undefined;
      }
      repeats += 1;
      return { target, waitMs };
    },
  };
}
