// The addresses behind each upstream and the connections to them, which outlive a reload of the configuration.

import { type Dispatcher, Pool } from 'undici';
import type { Mode } from '../exchange.ts';

export interface UpstreamAddresses {
  readonly live: readonly string[];
  readonly test?: readonly string[] | undefined;
  /** Connections per target. */
  readonly connections: number;
}

export interface Target {
  /** Origin, as the log names it. */
  readonly origin: string;
  readonly dispatcher: Dispatcher;
}

export interface Targets {
  /** The next target in turn. Only asked for modes the upstream has. */
  pick(upstream: string, mode: Mode): Target;
  hasTestTarget(upstream: string): boolean;
  /** Lets go of its connections; those that nobody else holds are closed. Waits for requests in flight. */
  close(): Promise<void>;
}

/** Connections by origin and their number, each held by whoever sends over them. */
export interface Pools {
  hold(origin: string, connections: number): HeldTarget;
}

export interface HeldTarget extends Target {
  letGo(): Promise<void>;
}

export function createPools(): Pools {
  const pools = new Map<string, { readonly pool: Pool; holders: number }>();

  return {
    hold(origin, connections) {
      const key = `${connections} ${origin}`;
      const known = pools.get(key) ?? { pool: openPool(origin, connections), holders: 0 };
      known.holders += 1;
      pools.set(key, known);
      return {
        origin,
        dispatcher: known.pool,
        async letGo() {
          known.holders -= 1;
          if (known.holders > 0) return;
          pools.delete(key);
          await known.pool.close();
        },
      };
    },
  };
}

function openPool(origin: string, connections: number): Pool {
  return new Pool(origin, {
    connections,
    // The exchange has a deadline of its own, from first byte to last; these would only add timers.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: 5_000 },
  });
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
  const held = new Map<string, HeldTarget>();
  const turns = new Map(Object.keys(upstreams).map((name) => [name, 0]));

  function targetAt(origin: string, connections: number): Target {
    const known = held.get(origin);
    if (known) return known;
    const target = pools.hold(origin, connections);
    held.set(origin, target);
    return target;
  }

  for (const { live, test = [], connections } of Object.values(upstreams)) {
    for (const address of [...live, ...test]) targetAt(originOf(address), connections);
  }

  function pick(upstream: string, mode: Mode): Target {
    const entry = upstreams[upstream] as UpstreamAddresses;
    const addresses = (mode === 'test' ? entry.test : entry.live) as readonly string[];
    if (addresses.length === 1) return targetAt(originOf(addresses[0] as string), entry.connections);
    const turn = turns.get(upstream) as number;
    turns.set(upstream, (turn + 1) % 1_000_000_007);
    return targetAt(originOf(addresses[turn % addresses.length] as string), entry.connections);
  }

  return {
    pick,
    hasTestTarget: (upstream) => upstreams[upstream]?.test !== undefined,
    async close() {
      const all = [...held.values()];
      held.clear();
      await Promise.all(all.map((target) => target.letGo()));
    },
  };
}
