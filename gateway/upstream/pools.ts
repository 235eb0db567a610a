// Connections to the addresses of upstreams, by origin and settings. They outlive a reload of the configuration.

import { type Dispatcher, Pool } from 'undici';

export interface PoolSettings {
  /** Connections per target. */
  readonly connections: number;
}

/** Connections by origin and settings, each held by whoever sends over them. */
export interface Pools {
  hold(origin: string, settings: PoolSettings): HeldPool;
}

export interface HeldPool {
  readonly dispatcher: Dispatcher;
  /** Whoever lets go last closes the connections, once requests in flight have ended. */
  letGo(): Promise<void>;
}

export function createPools(): Pools {
  const pools = new Map<string, { readonly pool: Pool; holders: number }>();

  return {
    hold(origin, settings) {
      const key = `${origin} ${settings.connections}`;
      const known = pools.get(key) ?? { pool: openPool(origin, settings), holders: 0 };
      known.holders += 1;
      pools.set(key, known);
      return {
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

function openPool(origin: string, { connections }: PoolSettings): Pool {
  return new Pool(origin, {
    connections,
    // The exchange has a deadline of its own, from first byte to last; these would only add timers.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: 5_000 },
  });
}
