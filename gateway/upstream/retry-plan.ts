// What was tried for one request, and what is tried next: made when an attempt fails, so that a request that succeeds has none.

import type { Fresh, RetryReason } from '../exchange.ts';
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
  /** Whether a byte of the request may have left. */
  readonly wasSent: boolean;
  /** What the upstream asked for. */
  readonly retryAfterSeconds: number | undefined;
}

export interface RetryPlan {
  /** The target for another attempt, picked already, and how long to wait first; undefined: what went wrong is the answer. */
  after(failed: FailedAttempt): NextAttempt | undefined;
}

/** @param deadlineAt as `performance.now()` counts */
export function createRetryPlan(targets: Targets, fresh: Fresh, way: UpstreamRoute, deadlineAt: number): RetryPlan {
  const { operation, caller, trail } = fresh;
  const tried: Target[] = [];
  let repeats = 0;

  /** Undefined when the breaker has opened meanwhile: what went wrong before says more. */
  function pick(): Target | undefined {
    try {
      return targets.pick(operation.upstream, caller.mode, tried);
    } catch {
      return undefined;
    }
  }

  /** A request that went out just as its connection was closed says nothing about the target. */
  function isClosedUnder({ reason }: FailedAttempt): boolean {
    return reason === 'connection_lost' && repeats === 0;
  }

  function isInTime(waitMs: number | undefined): waitMs is number {
    return waitMs !== undefined && performance.now() + waitMs < deadlineAt;
  }

  /** What was never sent made no work, so that another target is not sent more than it would have been. */
  function isPaidFor(failed: FailedAttempt, isTried: boolean): boolean {
    if (failed.reason === 'not_sent' && !isTried) return true;
    const isPaid = isClosedUnder(failed) ? way.budget.takeForLost() : way.budget.take();
    if (!isPaid) trail.retryBudgetSpent = true;
    return isPaid;
  }

  return {
    after(failed) {
      if (repeats >= way.repeatsMax || !isRepeatable(fresh, failed.wasSent, way.honoursIdempotencyKey))
        return undefined;
      tried.push(failed.target);
      const target = pick();
      if (target === undefined) return undefined;
      const isTried = tried.includes(target);
      const waitMs = !isTried || isClosedUnder(failed) ? 0 : backOffMs(repeats, failed.retryAfterSeconds);
      if (!isInTime(waitMs) || !isPaidFor(failed, isTried)) {
        targets.ended(target, 'abandoned', performance.now());
        return undefined;
      }
      repeats += 1;
      return { target, waitMs };
    },
  };
}
