// Picks the target and the connections for each request to an upstream, for one configuration. Throws upstream_unavailable.

import type { Mode } from '../../caller.ts';
import { GatewayError } from '../../errors.ts';
import type { TlsSettings } from '../../http1/client/connect.ts';
import type { Dispatcher } from '../../http1/client/wire.ts';
import { failureText, type SendingFailure } from '../failure.ts';
import type { AttemptOutcome } from './outcome.ts';
import {
  type EjectionRules,
  noteRequestBegan,
  noteRequestEnded,
  rankForChoice,
  SELECTION_RANK,
  type TargetState,
} from './outlier-detection.ts';
import type { Pools, SharedPool } from './pools.ts';
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
  /** Releases the connection pools. A pool without another holder closes after its requests in flight have ended. */
  close(): Promise<void>;
}

export interface TargetsOptions {
  readonly upstreams: Readonly<Record<string, UpstreamAddresses>>;
  /** TLS settings for https:// addresses; undefined for the defaults. */
  tlsOf(upstream: string): TlsSettings | undefined;
  readonly pools: Pools;
  readonly targetSets: TargetSets;
  /** Current origin of a configured address. Called per request, because a restarted sandbox listens on another port. */
  originOf(address: string): string;
  /** Monotonic milliseconds. */
  clock(): number;
}

interface PooledTarget extends Target {
  origin: string;
  dispatcher: Dispatcher;
  pool: SharedPool;
  readonly targetState: TargetState;
  readonly pooled: PooledTargets;
}

/** The targets of one upstream for one mode. */
interface PooledTargets {
  readonly set: TargetSet;
  readonly rules: TargetSetRules;
  targets: readonly PooledTarget[];
}

/** Holds the pools of all addresses from the start, so that connections survive the change from one configuration to the next. */
export function createTargets({ upstreams, tlsOf, pools, targetSets, originOf, clock }: TargetsOptions): Targets {
  const pooledTargets = { live: new Map<string, PooledTargets>(), test: new Map<string, PooledTargets>() };
  for (const [name, entry] of Object.entries(upstreams)) {
    const { connections, connectTimeoutMs, connectionMaxAgeSeconds, isolate, ejection, breaker, health, live, test } =
      entry;
    const tls = tlsOf(name);
    const rules = { connections, connectTimeoutMs, connectionMaxAgeSeconds, isolate, ejection, breaker, health, tls };
    pooledTargets.live.set(name, pooledTargetsOf(name, 'live', live, rules));
    if (test) pooledTargets.test.set(name, pooledTargetsOf(name, 'test', test, rules));
  }

  function pooledTargetsOf(
    upstream: string,
    mode: Mode,
    addresses: readonly string[],
    rules: TargetSetRules,
  ): PooledTargets {
    const set = targetSets.hold(upstream, mode, addresses, rules);
    const pooled: PooledTargets = { set, rules, targets: [] };
    pooled.targets = set.targetStates.map((targetState) => targetOf(targetState, pooled));
    return pooled;
  }

  function targetOf(targetState: TargetState, pooled: PooledTargets): PooledTarget {
    const origin = originOf(targetState.address);
    const pool = connectionsTo(origin, pooled);
    return { origin, pool, dispatcher: pool.dispatcher, targetState, pooled };
  }

  function connectionsTo(origin: string, { set, rules }: PooledTargets): SharedPool {
    const { connections, connectTimeoutMs, connectionMaxAgeSeconds, isolate, tls } = rules;
    const settings = { connections, connectTimeoutMs, connectionMaxAgeSeconds, isolate, tls };
    return pools.hold(origin, settings, () => targetSets.noteUnrequestedBytes(set.upstream));
  }

  /** Isolates the requests to all targets, until the time of isolation is over. */
  function keepApart({ set, targets }: PooledTargets): void {
    const isOver = clock() >= set.isolatedUntilMs;
    if (isOver) set.isolatedUntilMs = 0;
    for (const { pool } of targets) pool.isolate(!isOver);
  }

  /** Connects to a target at its new origin. Requests in flight end on the old connections. */
  function move(target: PooledTarget, origin: string): void {
    void target.pool.letGo();
    target.pool = connectionsTo(origin, target.pooled);
    target.origin = origin;
    target.dispatcher = target.pool.dispatcher;
  }

  function bestOf({ set, rules, targets }: PooledTargets, tried: readonly Target[] | undefined): PooledTarget {
    if (targets.length === 1) return targets[0] as PooledTarget;
    set.turn = (set.turn + 1) % targets.length;
    return choose(targets, rules.ejection, clock(), set.turn, tried);
  }

  return {
    pick(upstream, mode, tried) {
      const pooled = pooledTargets[mode].get(upstream) as PooledTargets;
      const waitMs = pooled.set.breaker.admit();
      if (waitMs > 0) throw unavailable(waitMs, pooled.set.breaker.reason());
      const target = bestOf(pooled, tried);
      const origin = originOf(target.targetState.address);
      if (origin !== target.origin) move(target, origin);
      if (pooled.set.isolatedUntilMs > 0) keepApart(pooled);
      noteRequestBegan(target.targetState);
      return target;
    },
    ended(target, outcome, sentAtMs, failure) {
      const { targetState, pooled } = target as PooledTarget;
      const { set } = pooled;
      const change = noteRequestEnded(
        targetState,
        outcome,
        sentAtMs,
        set.rules.ejection,
        clock,
        set.targetStates,
        failure,
      );
      set.breaker.ended(outcome, sentAtMs, failure);
      if (change !== undefined) targetSets.report(set, targetState, change);
    },
    async close() {
      const all = [...pooledTargets.live.values(), ...pooledTargets.test.values()];
      pooledTargets.live.clear();
      pooledTargets.test.clear();
      for (const { set } of all) targetSets.letGo(set);
      await Promise.all(all.flatMap(({ targets }) => targets.map(({ pool }) => pool.letGo())));
    },
  };
}

function unavailable(waitMs: number, reason: SendingFailure | undefined): GatewayError {
  const why = reason === undefined ? '' : `: ${failureText(reason)}`;
  return new GatewayError('upstream_unavailable', {
    cause: new Error(`the circuit breaker of the upstream is open${why}`),
    headers: { 'Proxy-Status': 'api-gateway; error=destination_unavailable' },
    retryAfterSeconds: Math.ceil(waitMs / 1000),
  });
}

export interface Candidate {
  readonly targetState: TargetState;
}

/**
 * Prefers working targets that were not tried, then returning ones, then tried ones. If no target works, all are candidates: an attempt
 * that may fail is better than a certain refusal. Equal candidates take turns.
 *
 * @param turn a different number for each call
 */
export function choose<C extends Candidate>(
  candidates: readonly C[],
  rules: EjectionRules | 'off',
  nowMs: number,
  turn: number,
  tried: readonly unknown[] | undefined,
): C {
  let best: C | undefined;
  let bestRank = 0;
  for (let i = 0; i < candidates.length; i++) {
    const candidate = candidates[(turn + i) % candidates.length] as C;
    let rank = rankForChoice(candidate.targetState, rules, nowMs);
    if (tried?.includes(candidate) === true) rank += SELECTION_RANK.tried;
    if (best !== undefined) {
      if (rank > bestRank) continue;
      if (rank === bestRank && candidate.targetState.outstanding >= best.targetState.outstanding) continue;
    }
    best = candidate;
    bestRank = rank;
  }
  return best as C;
}
