// The addresses behind each upstream and the connections to them.

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
  /** Waits for requests in flight. */
  close(): Promise<void>;
}

/**
 * `originOf` resolves an address of the configuration to an origin; it is asked per request, since a sandbox that was restarted
 * listens somewhere else.
 */
export function createTargets(
  upstreams: Readonly<Record<string, UpstreamAddresses>>,
  originOf: (address: string) => string,
): Targets {
  const pools = new Map<string, Target>();
  const turns = new Map(Object.keys(upstreams).map((name) => [name, 0]));

  function targetAt(origin: string, connections: number): Target {
    const known = pools.get(origin);
    if (known) return known;
    const dispatcher = new Pool(origin, {
      connections,
      // The exchange has a deadline of its own, from first byte to last; these would only add timers.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: 5_000 },
    });
    const target = { origin, dispatcher };
    pools.set(origin, target);
    return target;
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
      await Promise.all([...pools.values()].map(({ dispatcher }) => dispatcher.close()));
    },
  };
}
