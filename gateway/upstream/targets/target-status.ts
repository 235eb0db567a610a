// The status of targets for operators, which consists of a state and numbers.

import { failureText } from '../../catalogue/upstream-failure.ts';
import type { Mode } from '../../exchange/caller.ts';
import { hasNoConnection } from './addresses.ts';
import type { BreakerState } from './breaker.ts';
import type { HealthCheck, LastCheck } from './health-check.ts';
import type { TargetState } from './outlier-detection.ts';

/**
 * `failing`: requests to it keep failing, but it stays in use, for instance because it is the only one. `unhealthy`: health checks fail.
 * `trial`: gets one request at a time. `returning`: gets a growing share.
 */
export type TargetCondition = 'healthy' | 'failing' | 'unhealthy' | 'ejected' | 'trial' | 'returning';

export interface TargetStatus {
  readonly mode: Mode;
  /** The address in the configuration. */
  readonly address: string;
  readonly origin: string;
  readonly state: TargetCondition;
  readonly outstanding: number;
  /** When the latest answered request was sent; null if there is none. Undefined if the gateway itself answers. */
  readonly answered_at?: string | null;
  readonly consecutive_failures: number;
  /** The latest of these failures, and when the first of them ended. Both are null if the last request did not fail. */
  readonly last_error: string | null;
  readonly failing_since: string | null;
  /** When the ejection ends; null if the target is not ejected. */
  readonly ejected_until: string | null;
  /** Present if health checks are configured; null before the first result. */
  readonly last_check?: LastCheck | null;
}

export interface TargetSetStatus {
  readonly targets: readonly TargetStatus[];
  /** The state of the breaker in each mode. */
  readonly breaker: Readonly<Record<string, BreakerState>>;
  /** The time until which each request gets a new connection, because bytes arrived that no request asked for. */
  readonly isolated_until: string | null;
}

interface TargetMoment {
  /** Monotonic milliseconds. */
  clock(): number;
  /** Epoch milliseconds. */
  now(): number;
}

export function targetConditionOf(targetState: TargetState, nowMs: number): TargetCondition {
  if (!targetState.healthy) return 'unhealthy';
  const phase = targetState.phaseAt(nowMs);
  return phase === 'in' ? 'healthy' : phase;
}

interface TargetFacts {
  readonly mode: Mode;
  readonly origin: string;
  readonly healthCheck: HealthCheck | undefined;
  readonly isFailing: boolean;
}

export function targetStatus(
  targetState: TargetState,
  { mode, origin, healthCheck, isFailing }: TargetFacts,
  { clock, now }: TargetMoment,
): TargetStatus {
  const phase = targetConditionOf(targetState, clock());
  const state = phase === 'healthy' && isFailing ? 'failing' : phase;
  const timeOf = (atMs: number) => new Date(now() + (atMs - clock())).toISOString();
  const { failuresInRow, lastFailure, answeredAtMs } = targetState;
  return {
    mode,
    address: targetState.address,
    origin,
    state,
    outstanding: targetState.outstanding,
    ...(!hasNoConnection(targetState.address) && {
      answered_at: Number.isFinite(answeredAtMs) ? timeOf(answeredAtMs) : null,
    }),
    consecutive_failures: failuresInRow,
    last_error: failuresInRow > 0 && lastFailure !== undefined ? failureText(lastFailure) : null,
    failing_since: failuresInRow > 0 ? timeOf(targetState.failingSinceMs) : null,
    ejected_until: state === 'ejected' ? timeOf(targetState.untilMs) : null,
    ...(healthCheck && { last_check: healthCheck.last() ?? null }),
  };
}
