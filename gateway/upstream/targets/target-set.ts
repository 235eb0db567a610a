// The state of the targets of each upstream, per mode. It outlasts a reload of the configuration, so that an ejected target stays ejected,
// and outstanding requests still count.

import { failureText, type SendingFailure } from '../../catalogue/upstream-failure.ts';
import type { Mode } from '../../exchange/caller.ts';
import type { PoolSettings } from '../../http1/client/pool.ts';
import { hasNoConnection } from './addresses.ts';
import { Breaker, type BreakerRules, type BreakerState } from './breaker.ts';
import { type CheckResult, createHealthCheck, type HealthCheck, type HealthRules } from './health-check.ts';
import { type EjectionRules, type EjectionScope, TargetState } from './outlier-detection.ts';
import type { Pools } from './pools.ts';
import {
  type TargetCondition,
  type TargetSetStatus,
  type TargetStatus,
  targetConditionOf,
  targetStatus,
} from './target-status.ts';

export interface TargetSetRules extends PoolSettings {
  readonly ejection: EjectionRules | 'off';
  readonly breaker: BreakerRules | 'off';
  /** The health checks of the targets, if there are any. */
  readonly health?: HealthRules | undefined;
}

export interface TargetSet extends EjectionScope {
  readonly upstream: string;
  readonly mode: Mode;
  readonly breaker: Breaker;
  /** Rules of the latest configuration. */
  rules: TargetSetRules;
  /** Targets of the latest configuration. */
  targetStates: readonly TargetState[];
  /** Decides among equal targets; another number for each request. */
  rotation: number;
  /** The time, as `clock` counts, until which each request gets a new connection; 0 if connections are kept. */
  isolatedUntilMs: number;
  /** The number of configurations that use the set. */
  holders: number;
  readonly checks: Map<TargetState, HealthCheck>;
  /** The settings of the current health checks, as text. */
  checkSettings: string;
}

interface TargetChange {
  readonly upstream: string;
  readonly mode: Mode;
  /** The address in the configuration. */
  readonly address: string;
  readonly target: string;
  readonly state: TargetCondition;
  /** The failure that ejected the target or shows that it fails, if a request showed one. */
  readonly reason?: string | undefined;
}

export interface BreakerChange {
  readonly upstream: string;
  readonly mode: Mode;
  readonly state: BreakerState;
  /** The failure that opened the breaker. */
  readonly reason?: string | undefined;
}

/** A connection of an upstream has delivered bytes that no request asked for. */
export interface UnrequestedBytes {
  readonly upstream: string;
  /** Whether the connections of the upstream were kept until now. */
  readonly isFirst: boolean;
  /** The time until which each request gets a new connection. */
  readonly isolatedUntil: string;
}

interface TargetSetsOptions {
  readonly pools: Pools;
  originOf(address: string): string;
  /** Monotonic milliseconds. */
  clock(): number;
  /** Epoch milliseconds. */
  now(): number;
  onTarget(change: TargetChange): void;
  onBreaker(change: BreakerChange): void;
  onUnrequestedBytes(bytes: UnrequestedBytes): void;
  onCheck(check: { readonly upstream: string; readonly mode: Mode; readonly result: CheckResult }): void;
}

/** Duration of the isolation after unrequested bytes. If their cause remains, the next bytes begin a new isolation. */
const ISOLATED_MS = 600_000;

export class TargetSets {
  readonly #options: TargetSetsOptions;
  readonly #sets = new Map<string, TargetSet>();

  constructor(options: TargetSetsOptions) {
    this.#options = options;
  }

  /** Adds a holder and applies its configuration. Known state is kept; targets that are no longer among the addresses are forgotten. */
  hold(upstream: string, mode: Mode, addresses: readonly string[], rules: TargetSetRules): TargetSet {
    const key = `${mode} ${upstream}`;
    const set = this.#sets.get(key) ?? this.#open(upstream, mode, rules);
    this.#sets.set(key, set);
    set.holders += 1;
    this.#use(set, addresses, rules);
    return set;
  }

  /** Removes a holder. After the last holder, health checks stop and the state is dropped. */
  letGo(set: TargetSet): void {
    set.holders -= 1;
    if (set.holders > 0) return;
    for (const healthCheck of set.checks.values()) healthCheck.stop();
    this.#sets.delete(`${set.mode} ${set.upstream}`);
  }

  /** Reports a changed state of a target. */
  report({ upstream, mode }: TargetSet, targetState: TargetState, state: TargetCondition): void {
    const { address, lastFailure } = targetState;
    const isWorse = state === 'ejected' || state === 'failing';
    const reason = isWorse && lastFailure !== undefined ? { reason: failureText(lastFailure) } : {};
    const target = this.#options.originOf(address);
    this.#options.onTarget({ upstream, mode, address, target, state, ...reason });
  }

  /** Call it when a connection of the upstream has delivered bytes that no request asked for. Isolates its requests for ten minutes. */
  noteUnrequestedBytes(upstream: string): void {
    const isFirst = !this.isIsolated(upstream);
    const untilMs = this.#options.clock() + ISOLATED_MS;
    for (const set of this.#setsOf(upstream)) set.isolatedUntilMs = untilMs;
    this.#options.onUnrequestedBytes({ upstream, isFirst, isolatedUntil: this.#timeOf(untilMs) });
  }

  /** Whether each request of the upstream gets a new connection, because a connection has delivered unrequested bytes. */
  isIsolated(upstream: string): boolean {
    return this.#options.clock() < this.#isolatedUntil(upstream);
  }

  /** Whether a live target currently gets no requests, because it is unhealthy or ejected. */
  isOut(upstream: string, address: string): boolean {
    const targetState = this.#sets.get(`live ${upstream}`)?.targetStates.find((one) => one.address === address);
    const state = targetState && targetConditionOf(targetState, this.#options.clock());
    return state === 'unhealthy' || state === 'ejected';
  }

  /** Returns the status of the targets, by upstream. */
  status(): Readonly<Record<string, TargetSetStatus>> {
    const byUpstream = Map.groupBy(this.#sets.values(), ({ upstream }) => upstream);
    const all = [...byUpstream].map(([upstream, modes]) => [
      upstream,
      {
        targets: modes.flatMap((set) => this.#statusIn(set)),
        breaker: Object.fromEntries(modes.map(({ mode, breaker }) => [mode, breaker.state()])),
        isolated_until: this.isIsolated(upstream) ? this.#timeOf(this.#isolatedUntil(upstream)) : null,
      },
    ]);
    return Object.fromEntries(all);
  }

  #open(upstream: string, mode: Mode, rules: TargetSetRules): TargetSet {
    const { clock, onBreaker } = this.#options;
    const onChange = (state: BreakerState, cause?: SendingFailure) =>
      onBreaker({ upstream, mode, state, ...(cause !== undefined && { reason: failureText(cause) }) });
    const breaker = new Breaker(rules.breaker, { clock, onChange });
    const isolatedUntilMs = this.#isolatedUntil(upstream);
    const none = { targetStates: [], rotation: 0, holders: 0, checks: new Map(), checkSettings: '' };
    return { upstream, mode, breaker, rules, clock, isolatedUntilMs, ...none };
  }

  #setsOf(upstream: string): TargetSet[] {
    return [...this.#sets.values()].filter((set) => set.upstream === upstream);
  }

  #isolatedUntil(upstream: string): number {
    return Math.max(0, ...this.#setsOf(upstream).map(({ isolatedUntilMs }) => isolatedUntilMs));
  }

  #timeOf(atMs: number): string {
    const { now, clock } = this.#options;
    return new Date(now() + (atMs - clock())).toISOString();
  }

  #use(set: TargetSet, addresses: readonly string[], rules: TargetSetRules): void {
    const known = new Map(set.targetStates.map((targetState) => [targetState.address, targetState]));
    set.rules = rules;
    set.targetStates = [...new Set(addresses)].map((address) => known.get(address) ?? new TargetState(address));
    set.breaker.use(rules.breaker);
    if (rules.ejection === 'off' || set.targetStates.length === 1) for (const one of set.targetStates) one.clear();
    this.#checkAll(set, rules);
  }

  /** Health checks continue unchanged for targets whose check settings are the same. */
  #checkAll(set: TargetSet, rules: TargetSetRules): void {
    const { health, connections, tls } = rules;
    const settings = JSON.stringify([health, connections, tls]);
    const hasChanged = settings !== set.checkSettings;
    set.checkSettings = settings;
    for (const [targetState, healthCheck] of set.checks) {
      if (!hasChanged && set.targetStates.includes(targetState)) continue;
      healthCheck.stop();
      set.checks.delete(targetState);
    }
    for (const targetState of set.targetStates) {
      if (health === undefined || hasNoConnection(targetState.address)) targetState.healthy = true;
      else if (!set.checks.has(targetState)) set.checks.set(targetState, this.#check(set, targetState, health));
    }
  }

  #check(set: TargetSet, targetState: TargetState, health: HealthRules): HealthCheck {
    const { upstream, mode } = set;
    const { now, clock, pools, originOf, onCheck } = this.#options;
    return createHealthCheck(health, {
      now,
      isHealthy: targetState.healthy,
      connect: () => pools.single(originOf(targetState.address), set.rules),
      onResult: (result) => onCheck({ upstream, mode, result }),
      onVerdict: (isHealthy) => {
        targetState.noteHealth(isHealthy, set.rules.ejection, clock());
        this.report(set, targetState, targetConditionOf(targetState, clock()));
      },
    });
  }

  #statusIn(set: TargetSet): TargetStatus[] {
    const { mode, checks, rules } = set;
    const isBreakerOpen = set.breaker.state() !== 'closed';
    return set.targetStates.map((targetState) => {
      const isFailingNow = targetState.isFailing(rules.ejection) || (isBreakerOpen && targetState.failuresInRow > 0);
      const known = {
        mode,
        isFailing: isFailingNow,
        origin: this.#options.originOf(targetState.address),
        healthCheck: checks.get(targetState),
      };
      return targetStatus(targetState, known, this.#options);
    });
  }
}
