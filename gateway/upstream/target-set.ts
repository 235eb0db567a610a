// What is known about the targets of each upstream, per mode: kept from start to end, so that a reload of the configuration neither brings
// back a target that fails nor forgets how busy one is.

import type { Mode } from '../exchange.ts';
import { type Breaker, type BreakerRules, type BreakerState, createBreaker } from './breaker.ts';
import { failureText, type SendingFailure } from './failure-text.ts';
import { type CheckResult, createHealthCheck, type HealthCheck, type HealthRules } from './health-check.ts';
import type { PoolSettings } from './http1/pool.ts';
import {
  comeBack,
  createOutlierState,
  type EjectionRules,
  isFailing,
  letIn,
  type OutlierState,
} from './outlier-detection.ts';
import type { Pools } from './pools.ts';
import { type GroupStatus, type TargetState, type TargetStatus, targetStateOf, targetStatus } from './target-status.ts';

export interface TargetSetRules extends PoolSettings {
  readonly ejection: EjectionRules | 'off';
  readonly breaker: BreakerRules | 'off';
  /** Absent: nobody is asked how it is. */
  readonly health?: HealthRules | undefined;
}

export interface TargetSet {
  readonly upstream: string;
  readonly mode: Mode;
  readonly breaker: Breaker;
  /** Those of the latest configuration. */
  rules: TargetSetRules;
  /** Targets of the latest configuration. */
  standings: readonly OutlierState[];
  turn: number;
}

export interface TargetChange {
  readonly upstream: string;
  readonly mode: Mode;
  /** As the configuration names it. */
  readonly address: string;
  readonly target: string;
  readonly state: TargetState;
  /** Why it was taken out, as far as requests have shown. */
  readonly reason?: string | undefined;
}

export interface BreakerChange {
  readonly upstream: string;
  readonly mode: Mode;
  readonly state: BreakerState;
  /** The failure that opened it. */
  readonly reason?: string | undefined;
}

export interface TargetSetsOptions {
  readonly pools: Pools;
  originOf(address: string): string;
  /** Milliseconds that only ever grow. */
  clock(): number;
  /** Epoch milliseconds. */
  now(): number;
  onTarget(change: TargetChange): void;
  onBreaker(change: BreakerChange): void;
  onCheck(check: { readonly upstream: string; readonly mode: Mode; readonly result: CheckResult }): void;
}

export interface TargetSets {
  /** For one configuration more; what was known stays known. Targets that are not among the addresses any more are forgotten. */
  hold(upstream: string, mode: Mode, addresses: readonly string[], rules: TargetSetRules): TargetSet;
  /** Nobody is left: nothing more is done for it. */
  letGo(group: TargetSet): void;
  /** A sending has changed what is known about a target. */
  told(group: TargetSet, standing: OutlierState, state: TargetState): void;
  /** Whether a live target gets nothing at present, as far as requests and checks have shown. */
  isOut(upstream: string, address: string): boolean;
  /** By upstream. */
  status(): Readonly<Record<string, GroupStatus>>;
}

interface Known extends TargetSet {
  holders: number;
  readonly checkups: Map<OutlierState, HealthCheck>;
  checkedBy: string;
}

export function createTargetSets(options: TargetSetsOptions): TargetSets {
  const { clock, now, originOf } = options;
  const groups = new Map<string, Known>();

  function open(upstream: string, mode: Mode, rules: TargetSetRules): Known {
    const onChange = (state: BreakerState, cause?: SendingFailure) =>
      options.onBreaker({ upstream, mode, state, ...(cause !== undefined && { reason: failureText(cause) }) });
    const breaker = createBreaker(rules.breaker, { clock, onChange });
    return { upstream, mode, breaker, rules, standings: [], turn: 0, holders: 0, checkups: new Map(), checkedBy: '' };
  }

  function use(group: Known, addresses: readonly string[], rules: TargetSetRules): void {
    const known = new Map(group.standings.map((standing) => [standing.address, standing]));
    group.rules = rules;
    group.standings = [...new Set(addresses)].map((address) => known.get(address) ?? createOutlierState(address));
    group.breaker.use(rules.breaker);
    if (rules.ejection === 'off' || group.standings.length === 1) group.standings.forEach(letIn);
    checkAll(group, rules);
  }

  /** Checks go on as they are where nothing about them has changed. */
  function checkAll(group: Known, rules: TargetSetRules): void {
    const { health, connections, tls } = rules;
    const by = JSON.stringify([health, connections, tls]);
    const isOther = by !== group.checkedBy;
    group.checkedBy = by;
    for (const [standing, checkup] of group.checkups) {
      if (!isOther && group.standings.includes(standing)) continue;
      checkup.stop();
      group.checkups.delete(standing);
    }
    for (const standing of group.standings) {
      if (health === undefined) standing.healthy = true;
      else if (!group.checkups.has(standing)) group.checkups.set(standing, check(group, standing, health));
    }
  }

  function check(group: Known, standing: OutlierState, health: HealthRules): HealthCheck {
    const { upstream, mode } = group;
    return createHealthCheck(health, {
      now,
      isHealthy: standing.healthy,
      connect: () => options.pools.single(originOf(standing.address), group.rules),
      onResult: (result) => options.onCheck({ upstream, mode, result }),
      onVerdict(isHealthy) {
        standing.healthy = isHealthy;
        if (isHealthy && standing.phase === 'in') comeBack(standing, group.rules.ejection, clock());
        told(group, standing, targetStateOf(standing, clock()));
      },
    });
  }

  function told({ upstream, mode }: TargetSet, standing: OutlierState, state: TargetState): void {
    const { address, lastFailure } = standing;
    const reason = state === 'ejected' && lastFailure !== undefined ? { reason: failureText(lastFailure) } : {};
    options.onTarget({ upstream, mode, address, target: originOf(address), state, ...reason });
  }

  function statusIn(group: Known): TargetStatus[] {
    const { mode, checkups, rules } = group;
    const isBreakerOpen = group.breaker.state() !== 'closed';
    return group.standings.map((standing) => {
      const isFailingNow = isFailing(standing, rules.ejection) || (isBreakerOpen && standing.failuresInRow > 0);
      const known = {
        mode,
        isFailing: isFailingNow,
        origin: originOf(standing.address),
        checkup: checkups.get(standing),
      };
      return targetStatus(standing, known, options);
    });
  }

  return {
    hold(upstream, mode, addresses, rules) {
      const key = `${mode} ${upstream}`;
      const group = groups.get(key) ?? open(upstream, mode, rules);
      groups.set(key, group);
      group.holders += 1;
      use(group, addresses, rules);
      return group;
    },
    letGo(group) {
      const known = group as Known;
      known.holders -= 1;
      if (known.holders > 0) return;
      for (const checkup of known.checkups.values()) checkup.stop();
      groups.delete(`${known.mode} ${known.upstream}`);
    },
    told,
    isOut(upstream, address) {
      const standing = groups.get(`live ${upstream}`)?.standings.find((one) => one.address === address);
      const state = standing && targetStateOf(standing, clock());
      return state === 'unhealthy' || state === 'ejected';
    },
    status() {
      const byUpstream = Map.groupBy(groups.values(), ({ upstream }) => upstream);
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
