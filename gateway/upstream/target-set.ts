// The state of the targets of each upstream, per mode. It survives reloads, so that a reload neither readmits a failing target nor forgets
// its outstanding requests.

import type { Mode } from '../exchange.ts';
import type { PoolSettings } from '../http1/client/pool.ts';
import { type Breaker, type BreakerRules, type BreakerState, createBreaker } from './breaker.ts';
import { failureText, type SendingFailure } from './failure-text.ts';
import { type CheckResult, createHealthCheck, type HealthCheck, type HealthRules } from './health-check.ts';
import {
  clearOutlier,
  createOutlierState,
  type EjectionRules,
  isFailing,
  type OutlierState,
  readmit,
} from './outlier-detection.ts';
import type { Pools } from './pools.ts';
import { answersFromContract } from './simulated.ts';
import {
  type TargetSetStatus,
  type TargetState,
  type TargetStatus,
  targetStateOf,
  targetStatus,
} from './target-status.ts';

export interface TargetSetRules extends PoolSettings {
  readonly ejection: EjectionRules | 'off';
  readonly breaker: BreakerRules | 'off';
  /** Absent: no health checks. */
  readonly health?: HealthRules | undefined;
}

export interface TargetSet {
  readonly upstream: string;
  readonly mode: Mode;
  readonly breaker: Breaker;
  /** Rules of the latest configuration. */
  rules: TargetSetRules;
  /** Targets of the latest configuration. */
  outlierStates: readonly OutlierState[];
  turn: number;
}

export interface TargetChange {
  readonly upstream: string;
  readonly mode: Mode;
  /** As the configuration names it. */
  readonly address: string;
  readonly target: string;
  readonly state: TargetState;
  /** The failure that ejected it, if requests showed one. */
  readonly reason?: string | undefined;
}

export interface BreakerChange {
  readonly upstream: string;
  readonly mode: Mode;
  readonly state: BreakerState;
  /** The failure that opened the breaker. */
  readonly reason?: string | undefined;
}

export interface TargetSetsOptions {
  readonly pools: Pools;
  originOf(address: string): string;
  /** Monotonic milliseconds. */
  clock(): number;
  /** Epoch milliseconds. */
  now(): number;
  onTarget(change: TargetChange): void;
  onBreaker(change: BreakerChange): void;
  onCheck(check: { readonly upstream: string; readonly mode: Mode; readonly result: CheckResult }): void;
}

export interface TargetSets {
  /** Adds a holder and applies its configuration. Known state is kept; targets that are no longer among the addresses are forgotten. */
  hold(upstream: string, mode: Mode, addresses: readonly string[], rules: TargetSetRules): TargetSet;
  /** Removes a holder. After the last one, health checks stop and the state is dropped. */
  letGo(set: TargetSet): void;
  /** Reports a changed state of a target. */
  report(set: TargetSet, outlierState: OutlierState, state: TargetState): void;
  /** True if a live target currently gets no requests, because it is unhealthy or ejected. */
  isOut(upstream: string, address: string): boolean;
  /** By upstream. */
  status(): Readonly<Record<string, TargetSetStatus>>;
}

interface Known extends TargetSet {
  holders: number;
  readonly checks: Map<OutlierState, HealthCheck>;
  checkedBy: string;
}

export function createTargetSets(options: TargetSetsOptions): TargetSets {
  const { clock, now, originOf } = options;
  const sets = new Map<string, Known>();

  function open(upstream: string, mode: Mode, rules: TargetSetRules): Known {
    const onChange = (state: BreakerState, cause?: SendingFailure) =>
      options.onBreaker({ upstream, mode, state, ...(cause !== undefined && { reason: failureText(cause) }) });
    const breaker = createBreaker(rules.breaker, { clock, onChange });
    return { upstream, mode, breaker, rules, outlierStates: [], turn: 0, holders: 0, checks: new Map(), checkedBy: '' };
  }

  function use(set: Known, addresses: readonly string[], rules: TargetSetRules): void {
    const known = new Map(set.outlierStates.map((outlierState) => [outlierState.address, outlierState]));
    set.rules = rules;
    set.outlierStates = [...new Set(addresses)].map((address) => known.get(address) ?? createOutlierState(address));
    set.breaker.use(rules.breaker);
    if (rules.ejection === 'off' || set.outlierStates.length === 1) set.outlierStates.forEach(clearOutlier);
    checkAll(set, rules);
  }

  /** Health checks continue unchanged for targets whose check settings are the same. */
  function checkAll(set: Known, rules: TargetSetRules): void {
    const { health, connections, tls } = rules;
    const settings = JSON.stringify([health, connections, tls]);
    const hasChanged = settings !== set.checkedBy;
    set.checkedBy = settings;
    for (const [outlierState, healthCheck] of set.checks) {
      if (!hasChanged && set.outlierStates.includes(outlierState)) continue;
      healthCheck.stop();
      set.checks.delete(outlierState);
    }
    for (const outlierState of set.outlierStates) {
      if (health === undefined || answersFromContract(outlierState.address)) outlierState.healthy = true;
      else if (!set.checks.has(outlierState)) set.checks.set(outlierState, check(set, outlierState, health));
    }
  }

  function check(set: Known, outlierState: OutlierState, health: HealthRules): HealthCheck {
    const { upstream, mode } = set;
    return createHealthCheck(health, {
      now,
      isHealthy: outlierState.healthy,
      connect: () => options.pools.single(originOf(outlierState.address), set.rules),
      onResult: (result) => options.onCheck({ upstream, mode, result }),
      onVerdict(isHealthy) {
        outlierState.healthy = isHealthy;
        if (isHealthy && outlierState.phase === 'in') readmit(outlierState, set.rules.ejection, clock());
        report(set, outlierState, targetStateOf(outlierState, clock()));
      },
    });
  }

  function report({ upstream, mode }: TargetSet, outlierState: OutlierState, state: TargetState): void {
    const { address, lastFailure } = outlierState;
    const reason = state === 'ejected' && lastFailure !== undefined ? { reason: failureText(lastFailure) } : {};
    options.onTarget({ upstream, mode, address, target: originOf(address), state, ...reason });
  }

  function statusIn(set: Known): TargetStatus[] {
    const { mode, checks, rules } = set;
    const isBreakerOpen = set.breaker.state() !== 'closed';
    return set.outlierStates.map((outlierState) => {
      const isFailingNow = isFailing(outlierState, rules.ejection) || (isBreakerOpen && outlierState.failuresInRow > 0);
      const known = {
        mode,
        isFailing: isFailingNow,
        origin: originOf(outlierState.address),
        healthCheck: checks.get(outlierState),
      };
      return targetStatus(outlierState, known, options);
    });
  }

  return {
    hold(upstream, mode, addresses, rules) {
      const key = `${mode} ${upstream}`;
      const set = sets.get(key) ?? open(upstream, mode, rules);
      sets.set(key, set);
      set.holders += 1;
      use(set, addresses, rules);
      return set;
    },
    letGo(set) {
      const known = set as Known;
      known.holders -= 1;
      if (known.holders > 0) return;
      for (const healthCheck of known.checks.values()) healthCheck.stop();
      sets.delete(`${known.mode} ${known.upstream}`);
    },
    report,
    isOut(upstream, address) {
      const outlierState = sets.get(`live ${upstream}`)?.outlierStates.find((one) => one.address === address);
      const state = outlierState && targetStateOf(outlierState, clock());
      return state === 'unhealthy' || state === 'ejected';
    },
    status() {
      const byUpstream = Map.groupBy(sets.values(), ({ upstream }) => upstream);
      const all = [...byUpstream].map(([upstream, modes]) => [
        upstream,
        {
          targets: modes.flatMap(statusIn),
          breaker: Object.fromEntries(modes.map(({ mode, breaker }) => [mode, breaker.state()])),
        },
      ]);
      return Object.fromEntries(all);
    },
  };
}
