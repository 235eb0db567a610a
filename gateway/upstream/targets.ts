// The targets behind each upstream under one configuration: which one gets the next request, and over which connections. Throws
// upstream_unavailable.

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
  /** Origin, as the log names it. */
  readonly origin: string;
  readonly dispatcher: Dispatcher;
}

export interface Targets {
  /**
   * The best target now; those in `tried` are taken last. Only asked for modes the upstream has. Throws upstream_unavailable with the
   * true wait while the breaker of the upstream is open. The sending counts as outstanding until `ended`.
   */
  pick(upstream: string, mode: Mode, tried?: readonly Target[]): Target;
  /**
   * To be told exactly once for each target that was picked.
   *
   * @param sentAtMs when the attempt began, as `clock` counts; not before the target was picked
   * @param failure of an attempt that failed or erred
   */
  ended(target: Target, outcome: AttemptOutcome, sentAtMs: number, failure?: SendingFailure): void;
  /** Lets go of its connections; those that nobody else holds are closed. Waits for requests in flight. */
  close(): Promise<void>;
}

export interface TargetsOptions {
  readonly upstreams: Readonly<Record<string, UpstreamAddresses>>;
  /** For https:// addresses; undefined: as everybody does it. */
  tlsOf(upstream: string): TlsSettings | undefined;
  readonly pools: Pools;
  readonly groups: TargetSets;
  /**
   * Where an address of the configuration is right now; asked per request, since a sandbox that was restarted listens somewhere else.
   */
  originOf(address: string): string;
  /** Milliseconds that only ever grow. */
  clock(): number;
}

interface Member extends Target {
  origin: string;
  dispatcher: Dispatcher;
  pool: HeldPool;
  readonly standing: OutlierState;
  readonly team: Team;
}

/** The targets of one upstream for one mode. */
interface Team {
  readonly group: TargetSet;
  readonly rules: TargetSetRules;
  members: readonly Member[];
}

/** Holds the connections of every address from the start, so that they are kept while one configuration takes over from another. */
export function createTargets({ upstreams, tlsOf, pools, groups, originOf, clock }: TargetsOptions): Targets {
  const teams = { live: new Map<string, Team>(), test: new Map<string, Team>() };
  for (const [name, entry] of Object.entries(upstreams)) {
    const { connections, connectTimeoutMs, connectionMaxAgeSeconds, isolate, ejection, breaker, health, live, test } =
      entry;
    const tls = tlsOf(name);
    const rules = { connections, connectTimeoutMs, connectionMaxAgeSeconds, isolate, ejection, breaker, health, tls };
    teams.live.set(name, teamOf(name, 'live', live, rules));
    if (test) teams.test.set(name, teamOf(name, 'test', test, rules));
  }

  function teamOf(upstream: string, mode: Mode, addresses: readonly string[], rules: TargetSetRules): Team {
    const group = groups.hold(upstream, mode, addresses, rules);
    const team: Team = { group, rules, members: [] };
    team.members = group.standings.map((standing) => memberOf(standing, team));
    return team;
  }

  function memberOf(standing: OutlierState, team: Team): Member {
    const origin = originOf(standing.address);
    const pool = connectionsTo(origin, team.rules);
    return { origin, pool, dispatcher: pool.dispatcher, standing, team };
  }

  function connectionsTo(origin: string, rules: TargetSetRules): HeldPool {
    const { connections, connectTimeoutMs, connectionMaxAgeSeconds, isolate, tls } = rules;
    return pools.hold(origin, { connections, connectTimeoutMs, connectionMaxAgeSeconds, isolate, tls });
  }

  /** It listens somewhere else now; what is in flight ends where it began. */
  function move(member: Member, origin: string): void {
    void member.pool.letGo();
    member.pool = connectionsTo(origin, member.team.rules);
    member.origin = origin;
    member.dispatcher = member.pool.dispatcher;
  }

  function bestOf({ group, rules, members }: Team, tried: readonly Target[] | undefined): Member {
    if (members.length === 1) return members[0] as Member;
    group.turn = (group.turn + 1) % members.length;
    return choose(members, rules.ejection, clock(), group.turn, tried);
  }

  return {
    pick(upstream, mode, tried) {
      const team = teams[mode].get(upstream) as Team;
      const waitMs = team.group.breaker.admit();
      if (waitMs > 0) throw unavailable(waitMs);
      const member = bestOf(team, tried);
      const origin = originOf(member.standing.address);
      if (origin !== member.origin) move(member, origin);
      noteRequestBegan(member.standing);
      return member;
    },
    ended(target, outcome, sentAtMs, failure) {
      const { standing, team } = target as Member;
      const { group } = team;
      const turn = noteRequestEnded(standing, outcome, sentAtMs, group.rules.ejection, clock, group.standings, failure);
      group.breaker.ended(outcome, sentAtMs, failure);
      if (turn !== undefined) groups.told(group, standing, turn);
    },
    async close() {
      const all = [...teams.live.values(), ...teams.test.values()];
      teams.live.clear();
      teams.test.clear();
      for (const { group } of all) groups.letGo(group);
      await Promise.all(all.flatMap(({ members }) => members.map(({ pool }) => pool.letGo())));
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
