// Connections to the addresses of upstreams, by origin and settings. They outlive a reload of the configuration.

import { createHash } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import { createUnread } from '../unread.ts';
import { Pool, type PoolSettings } from './http1/pool.ts';
import type { Dispatcher } from './http1/wire.ts';

/** Connections by origin and settings, each held by whoever sends over them. */
export interface Pools {
  hold(origin: string, settings: PoolSettings): HeldPool;
  /** One connection of the same kind, outside of the pool; it is the asker's to close. */
  single(origin: string, settings: PoolSettings): Pool;
}

export interface HeldPool {
  readonly dispatcher: Dispatcher;
  /** Whoever lets go last closes the connections, once requests in flight have ended. */
  letGo(): Promise<void>;
}

/** What is read at once at most. */
const READ_BYTES = 65_536;

/** @param lookup how names become addresses */
export function createPools(lookup: LookupFunction): Pools {
  const pools = new Map<string, { readonly pool: Pool; holders: number }>();
  const reading = { readInto: new Uint8Array(READ_BYTES), unread: createUnread() };

  return {
    hold(origin, settings) {
      const key = keyOf(origin, settings);
      const known = pools.get(key) ?? { pool: new Pool(origin, settings, lookup, reading), holders: 0 };
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
    single: (origin, settings) => new Pool(origin, { ...settings, connections: 1 }, lookup, reading),
  };
}

function keyOf(origin: string, settings: PoolSettings): string {
  return createHash('sha256')
    .update(JSON.stringify([origin, settings]))
    .digest('base64');
}
