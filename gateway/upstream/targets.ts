// Picks the target and the connections for each request to an upstream, for one configuration. Throws upstream_unavailable.

import { GatewayError } from '../errors.ts';
import type { Mode } from '../exchange.ts';
import { choose } from './choose.ts';
import type { SendingFailure } from './failure-text.ts';
import type { TlsSettings } from './http1/connect.ts';
import type { Dispatcher } from './http1/wire.ts';
import type { AttemptOutcome } from './outcome.ts';
import { noteRequestBegan, noteRequestEnded, type OutlierState } from './outlier-detection.ts';
import type { HeldPool, Pools } from './pools.ts';
import type { TargetSet, TargetSetRules, TargetSets } from './target-set.ts';

export interface UpstreamAddresses extends Omit<TargetSetRules, 'tls'> {
  readonly live: readonly string[];
  readonly test?: readonly string[] | undefined;
}

export interface Target {
  /** Origin, as it appears in the log. */
  readonly origin: string;
  readonly dispatcher: Dispatcher;
}

export interface Targets {
  /**
   * Picks the best target; those in `tried` come last. Call it only for modes that the upstream has. Throws upstream_unavailable with the
   * remaining wait while the breaker of the upstream is open. The attempt counts as outstanding until `ended`.
   */
  pick(upstream: string, mode: Mode, tried?: readonly Target[]): Target;
  /**
   * Call exactly once for each picked target.
   *
   * @param sentAtMs when the attempt began, as `clock` counts; not before the target was picked
   * @param failure cause, if the attempt failed or erred
   */
  ended(target: Target, outcome: AttemptOutcome, sentAtMs: number, failure?: SendingFailure): void;
  /** Releases the connection pools; pools without another holder close after their requests in flight have ended. */
  close(): Promise<void>;
}

export interface TargetsOptions {
  readonly upstreams: Readonly<Record<string, UpstreamAddresses>>;
  /** TLS settings for https:// addresses; undefined: the defaults. */
  tlsOf(upstream: string): TlsSettings | undefined;
  readonly pools: Pools;
  readonly groups: TargetSets;
  /** Current origin of a configured address. Called per request, because a restarted sandbox listens on another port. */
  originOf(address: string): string;
  /** Monotonic milliseconds. */
  clock(): number;
}

interface PooledTarget extends Target {
  origin: string;
  dispatcher: Dispatcher;
  pool: HeldPool;
  readonly standing: OutlierState;
  readonly group: TargetGroup;
}

/** The targets of one upstream for one mode. */
interface TargetGroup {
  readonly set: TargetSet;
  readonly rules: TargetSetRules;
  targets: readonly PooledTarget[];
}

/** Holds the pools of all addresses from the start, so that connections survive the change from one configuration to the next. */
export function createTargets({ upstreams, tlsOf, pools, groups, originOf, clock }: TargetsOptions): Targets {
  const targetGroups = { live: new Map<string, TargetGroup>(), test: new Map<string, TargetGroup>() };
  for (const [name, entry] of Object.entries(upstreams)) {
    const { connections, connectTimeoutMs, connectionMaxAgeSeconds, isolate, ejection, breaker, health, live, test } =
      entry;
    const tls = tlsOf(name);
    const rules = { connections, connectTimeoutMs, connectionMaxAgeSeconds, isolate, ejection, breaker, health, tls };
    targetGroups.live.set(name, groupOf(name, 'live', live, rules));
    if (test) targetGroups.test.set(name, groupOf(name, 'test', test, rules));
  }

  function groupOf(upstream: string, mode: Mode, addresses: readonly string[], rules: TargetSetRules): TargetGroup {
    const set = groups.hold(upstream, mode, addresses, rules);
    const group: TargetGroup = { set, rules, targets: [] };
    group.targets = set.standings.map((standing) => targetOf(standing, group));
    return group;
  }

  function targetOf(standing: OutlierState, group: TargetGroup): PooledTarget {
    const origin = originOf(standing.address);
    const pool = connectionsTo(origin, group.rules);
    return { origin, pool, dispatcher: pool.dispatcher, standing, group };
  }

  function connectionsTo(origin: string, rules: TargetSetRules): HeldPool {
    const { connections, connectTimeoutMs, connectionMaxAgeSeconds, isolate, tls } = rules;
    return pools.hold(origin, { connections, connectTimeoutMs, connectionMaxAgeSeconds, isolate, tls });
  }

  /** The target has a new origin; requests in flight end on the old connections. */
  function move(target: PooledTarget, origin: string): void {
    void target.pool.letGo();
    target.pool = connectionsTo(origin, target.group.rules);
    target.origin = origin;
    target.dispatcher = target.pool.dispatcher;
  }

  function bestOf({ set, rules, targets }: TargetGroup, tried: readonly Target[] | undefined): PooledTarget {
    if (targets.length === 1) return targets[0] as PooledTarget;
    set.turn = (set.turn + 1) % targets.length;
    return choose(targets, rules.ejection, clock(), set.turn, tried);
  }

  return {
    pick(upstream, mode, tried) {
      const group = targetGroups[mode].get(upstream) as TargetGroup;
      const waitMs = group.set.breaker.admit();
      if (waitMs > 0) throw unavailable(waitMs);
      const target = bestOf(group, tried);
      const origin = originOf(target.standing.address);
      if (origin !== target.origin) move(target, origin);
      noteRequestBegan(target.standing);
      return target;
    },
    ended(target, outcome, sentAtMs, failure) {
      const { standing, group } = target as PooledTarget;
      const { set } = group;
      const change = noteRequestEnded(standing, outcome, sentAtMs, set.rules.ejection, clock, set.standings, failure);
      set.breaker.ended(outcome, sentAtMs, failure);
      if (change !== undefined) groups.report(set, standing, change);
    },
    async close() {
      const all = [...targetGroups.live.values(), ...targetGroups.test.values()];
      targetGroups.live.clear();
      targetGroups.test.clear();
      for (const { set } of all) groups.letGo(set);
      await Promise.all(all.flatMap(({ targets }) => targets.map(({ pool }) => pool.letGo())));
    },
  };
}

function unavailable(waitMs: number): GatewayError {
  return new GatewayError('upstream_unavailable', {
    cause: new Error('the circuit breaker of the upstream is open'),
    headers: { 'Proxy-Status': 'api-gateway; error=destination_unavailable' },
    retryAfterSeconds: Math.ceil(waitMs / 1000),
  });
}
