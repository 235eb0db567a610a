// What operators are told about targets: how each of them does, in one word and in numbers.

import type { Mode } from '../exchange.ts';
import type { BreakerState } from './breaker.ts';
import type { Checkup, LastCheck } from './checkup.ts';
import { phaseAt, type Standing } from './standing.ts';

/** `unhealthy`: health checks fail. `trial`: gets one request at a time. `returning`: gets more and more of them. */
export type TargetState = 'healthy' | 'unhealthy' | 'ejected' | 'trial' | 'returning';

export interface TargetStatus {
  readonly mode: Mode;
  /** As the configuration names it. */
  readonly address: string;
  readonly origin: string;
  readonly state: TargetState;
  readonly outstanding: number;
  readonly consecutive_failures: number;
  /** Null: it is not ejected. */
  readonly ejected_until: string | null;
  /** Present where there are health checks; null: none has ended yet. */
  readonly last_check?: LastCheck | null;
}

export interface GroupStatus {
  readonly targets: readonly TargetStatus[];
  /** By mode. */
  readonly breaker: Readonly<Record<string, BreakerState>>;
}

export interface Moment {
  /** Milliseconds that only ever grow. */
  clock(): number;
  /** Epoch milliseconds. */
  now(): number;
}

export function stateOf(standing: Standing, nowMs: number): TargetState {
  if (!standing.healthy) return 'unhealthy';
  const phase = phaseAt(standing, nowMs);
  return phase === 'in' ? 'healthy' : phase;
}

export function targetStatus(
  standing: Standing,
  { mode, origin, checkup }: { readonly mode: Mode; readonly origin: string; readonly checkup: Checkup | undefined },
  { clock, now }: Moment,
): TargetStatus {
  const state = stateOf(standing, clock());
  const ejectedUntilMs = now() + (standing.untilMs - clock());
  return {
    mode,
    address: standing.address,
    origin,
    state,
    outstanding: standing.outstanding,
    consecutive_failures: standing.failuresInRow,
    ejected_until: state === 'ejected' ? new Date(ejectedUntilMs).toISOString() : null,
    ...(checkup && { last_check: checkup.last() ?? null }),
  };
}
