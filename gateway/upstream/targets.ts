// The targets behind each upstream: which one gets the next request, and what becomes of it.

import type { Dispatcher } from 'undici';
import type { Mode } from '../exchange.ts';
import type { Outcome } from './outcome.ts';
import type { HeldPool, PoolSettings, Pools } from './pools.ts';

export interface UpstreamAddresses extends PoolSettings {
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
   * true wait when the breaker of the upstream is open. The sending counts as outstanding until `ended`.
   */
  pick(upstream: string, mode: Mode, tried?: readonly Target[]): Target;
  /** To be told exactly once for each target that was picked. */
  ended(target: Target, outcome: Outcome): void;
  hasTestTarget(upstream: string): boolean;
  /** Lets go of its connections; those that nobody else holds are closed. Waits for requests in flight. */
  close(): Promise<void>;
}

interface Member extends Target {
  origin: string;
  dispatcher: Dispatcher;
  readonly address: string;
  pool: HeldPool;
  outstanding: number;
}

interface Group {
  readonly settings: PoolSettings;
  readonly members: readonly Member[];
  turn: number;
}

/**
 * Holds the connections of every address from the start, so that they are kept while one configuration takes over from another.
 * `originOf` resolves an address of the configuration to an origin; it is asked per request, since a sandbox that was restarted
 * listens somewhere else.
 */
export function createTargets(
  upstreams: Readonly<Record<string, UpstreamAddresses>>,
  originOf: (address: string) => string,
  pools: Pools,
): Targets {
  const groups = { live: new Map<string, Group>(), test: new Map<string, Group>() };
  for (const [name, entry] of Object.entries(upstreams)) {
    groups.live.set(name, groupOf(entry.live, entry));
    if (entry.test) groups.test.set(name, groupOf(entry.test, entry));
  }

  function groupOf(addresses: readonly string[], settings: PoolSettings): Group {
    return { settings, members: addresses.map((address) => memberAt(address, settings)), turn: 0 };
  }

  function memberAt(address: string, settings: PoolSettings): Member {
    const origin = originOf(address);
    const pool = pools.hold(origin, settings);
    return { address, origin, pool, dispatcher: pool.dispatcher, outstanding: 0 };
  }

  /** It listens somewhere else now; what is in flight ends where it began. */
  function move(member: Member, origin: string, settings: PoolSettings): void {
    void member.pool.letGo();
    member.pool = pools.hold(origin, settings);
    member.origin = origin;
    member.dispatcher = member.pool.dispatcher;
  }

  return {
    pick(upstream, mode, tried) {
      const group = groups[mode].get(upstream) as Group;
      const member = group.members.length === 1 ? (group.members[0] as Member) : leastOutstanding(group, tried);
      const origin = originOf(member.address);
      if (origin !== member.origin) move(member, origin, group.settings);
      member.outstanding += 1;
      return member;
    },
    ended(target) {
      (target as Member).outstanding -= 1;
    },
    hasTestTarget: (upstream) => groups.test.has(upstream),
    async close() {
      const all = [...groups.live.values(), ...groups.test.values()].flatMap(({ members }) => members);
      await Promise.all(all.map(({ pool }) => pool.letGo()));
    },
  };
}

/** Of several that are equally busy, each in its turn. */
function leastOutstanding(group: Group, tried: readonly Target[] | undefined): Member {
  const { members } = group;
  group.turn = (group.turn + 1) % members.length;
  let best: Member | undefined;
  let bestRank = 0;
  for (let i = 0; i < members.length; i++) {
    const member = members[(group.turn + i) % members.length] as Member;
    const rank = tried?.includes(member) === true ? 1 : 0;
    if (best !== undefined && (rank > bestRank || (rank === bestRank && member.outstanding >= best.outstanding)))
      continue;
    best = member;
    bestRank = rank;
  }
  return best as Member;
}
