// Picks the target and the connections for each request to an upstream, for one configuration. Throws upstream_unavailable.

import { GatewayError } from '../../catalogue/errors.ts';
import { failureText, type SendingFailure } from '../../catalogue/upstream-failure.ts';
import type { Mode } from '../../exchange/caller.ts';
import type { TlsSettings } from '../../http1/client/connect.ts';
import type { AttemptResult } from './attempt-result.ts';
import { type EjectionRules, SELECTION_RANK, type TargetState } from './outlier-detection.ts';
import type { Pools, SharedPool } from './pools.ts';
import type { TargetSet, TargetSetRules, TargetSets } from './target-set.ts';

export interface UpstreamAddresses extends Omit<TargetSetRules, 'tls'> {
  readonly live: readonly string[];
  readonly test?: readonly string[] | undefined;
}

/** One address of an upstream, with its connections. `Targets` alone changes its members, when the address gets a new origin. */
export interface Target {
  /** Origin, as it appears in the log. */
  origin: string;
  pool: SharedPool;
  readonly targetState: TargetState;
  /** The state of all targets of the upstream. */
  readonly set: TargetSet;
}

interface TargetsOptions {
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

/** The targets of one upstream for one mode. */
interface PooledTargets {
  readonly set: TargetSet;
  readonly rules: TargetSetRules;
  readonly targets: readonly Target[];
}

/**
 * The targets of one configuration. This object holds the pools of its addresses from the start. At a reload, the new configuration takes
 * the pools before the old configuration releases them, so that their connections survive.
 */
export class Targets {
  readonly #options: TargetsOptions;
  readonly #pooled = { live: new Map<string, PooledTargets>(), test: new Map<string, PooledTargets>() };

  constructor(options: TargetsOptions) {
    this.#options = options;
    for (const [name, entry] of Object.entries(options.upstreams)) {
      const { connections, connectTimeoutMs, connectionMaxAgeSeconds, isolate, ejection, breaker, health } = entry;
      const tls = options.tlsOf(name);
      const rules = { connections, connectTimeoutMs, connectionMaxAgeSeconds, isolate, ejection, breaker, health, tls };
      this.#pooled.live.set(name, this.#pooledTargetsOf(name, 'live', entry.live, rules));
      if (entry.test) this.#pooled.test.set(name, this.#pooledTargetsOf(name, 'test', entry.test, rules));
    }
  }

  /**
   * Picks the best target for an attempt; the targets in `tried` come last. The attempt is counted as outstanding until `noteResult` is
   * called. Call `pick` only for modes that the upstream has. Throws upstream_unavailable with the remaining wait while the breaker
   * of the upstream is open.
   */
  pick(upstream: string, mode: Mode, tried?: readonly Target[]): Target {
    const pooled = this.#pooled[mode].get(upstream) as PooledTargets;
    const waitMs = pooled.set.breaker.admit();
    if (waitMs > 0) throw unavailable(waitMs, pooled.set.breaker.reason());
    const target = this.#bestOf(pooled, tried);
    const origin = this.#options.originOf(target.targetState.address);
    if (origin !== target.origin) this.#move(target, pooled, origin);
    if (pooled.set.isolatedUntilMs > 0) this.#isolate(pooled);
    target.targetState.noteBegan();
    return target;
  }

  /**
   * Ends the attempt at a picked target. Call it exactly once for each `pick`.
   *
   * @param sentAtMs when the attempt began, as `clock` counts; not before the target was picked
   * @param failure cause, if the attempt failed or erred
   */
  noteResult(target: Target, result: AttemptResult, sentAtMs: number, failure?: SendingFailure): void {
    const { targetState, set } = target;
    const change = targetState.noteEnded(set, result, sentAtMs, failure);
    set.breaker.noteResult(result, sentAtMs, failure);
    if (change !== undefined) this.#options.targetSets.report(set, targetState, change);
  }

  /** Releases the connection pools. A pool without another holder closes after its requests in progress have ended. */
  async close(): Promise<void> {
    const { live, test } = this.#pooled;
    const all = [...live.values(), ...test.values()];
    live.clear();
    test.clear();
    for (const { set } of all) this.#options.targetSets.letGo(set);
    await Promise.all(all.flatMap(({ targets }) => targets.map(({ pool }) => pool.letGo())));
  }

  #pooledTargetsOf(upstream: string, mode: Mode, addresses: readonly string[], rules: TargetSetRules): PooledTargets {
    const set = this.#options.targetSets.hold(upstream, mode, addresses, rules);
    const targets = set.targetStates.map((targetState) => {
      const origin = this.#options.originOf(targetState.address);
      const pool = this.#connectionsTo(origin, { set, rules });
      return { origin, pool, targetState, set };
    });
    return { set, rules, targets };
  }

  #connectionsTo(origin: string, { set, rules }: Omit<PooledTargets, 'targets'>): SharedPool {
    const { pools, targetSets } = this.#options;
    const { connections, connectTimeoutMs, connectionMaxAgeSeconds, isolate, tls } = rules;
    const settings = { connections, connectTimeoutMs, connectionMaxAgeSeconds, isolate, tls };
    return pools.hold(origin, settings, () => targetSets.noteUnrequestedBytes(set.upstream));
  }

  /** Gives each request a new connection, until the time of isolation is over. */
  #isolate({ set, targets }: PooledTargets): void {
    const isOver = this.#options.clock() >= set.isolatedUntilMs;
    if (isOver) set.isolatedUntilMs = 0;
    for (const { pool } of targets) pool.isolate(!isOver);
  }

  /** Connects to a target at its new origin. Requests in progress end on the old connections. */
  #move(target: Target, pooled: PooledTargets, origin: string): void {
    void target.pool.letGo();
    target.pool = this.#connectionsTo(origin, pooled);
    target.origin = origin;
  }

  #bestOf({ set, rules, targets }: PooledTargets, tried: readonly Target[] | undefined): Target {
    if (targets.length === 1) return targets[0] as Target;
    set.rotation = (set.rotation + 1) % targets.length;
    return choose(targets, rules.ejection, this.#options.clock(), set.rotation, tried);
  }
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
 * Prefers working targets that were not tried, then returning targets, then targets that could not be reached, then targets that were
 * tried (`SELECTION_RANK`). If no target works, all are candidates, because an attempt that may fail is better than a certain refusal.
 * Equal candidates take turns.
 *
 * @param rotation a different number for each call
 */
export function choose<C extends Candidate>(
  candidates: readonly C[],
  rules: EjectionRules | 'off',
  nowMs: number,
  rotation: number,
  tried: readonly unknown[] | undefined,
): C {
  let best: C | undefined;
  let bestRank = 0;
  for (let i = 0; i < candidates.length; i++) {
    const candidate = candidates[(rotation + i) % candidates.length] as C;
    let rank = candidate.targetState.creditAndRank(rules, nowMs);
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
