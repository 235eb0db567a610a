// Connection pools of upstream addresses, by origin and settings. They survive a reload of the configuration.

import { createHash } from 'node:crypto';
import { lookup as dnsLookup, type LookupAddress, type LookupAllOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Pool, type PoolSettings } from '../../http1/client/pool.ts';
import type { Dispatcher } from '../../http1/client/wire.ts';
import { createUnread } from '../../sockets/unread-bytes.ts';

/** Pools by origin and settings, with a count of their holders. */
export interface Pools {
  /** @param onUnrequestedBytes called when the upstream has written bytes that no request asked for */
  hold(origin: string, settings: PoolSettings, onUnrequestedBytes: () => void): SharedPool;
  /** Opens one separate connection with the same settings; the caller must close it. */
  single(origin: string, settings: PoolSettings): Pool;
}

export interface SharedPool {
  readonly dispatcher: Dispatcher;
  /** Gives each request a new connection, even if the settings say otherwise. */
  isolate(isIsolated: boolean): void;
  /** Releases the pool. The last release closes it, once requests in progress have ended. */
  letGo(): Promise<void>;
}

/** Largest single read. */
const READ_BYTES = 65_536;

/** @param lookupAll looks up all addresses of a name; tests replace it */
export function createPools(lookupAll: LookupAll = dnsLookup): Pools {
  const lookup = createLookup(lookupAll);
  const pools = new Map<string, { readonly pool: Pool; readonly holders: Set<() => void> }>();
  const reading = { readInto: new Uint8Array(READ_BYTES), unread: createUnread() };

  function open(origin: string, settings: PoolSettings) {
    const holders = new Set<() => void>();
    const tellAll = () => {
      for (const onUnrequestedBytes of holders) onUnrequestedBytes();
    };
    return { pool: new Pool(origin, settings, lookup, reading, tellAll), holders };
  }

  return {
    hold(origin, settings, onUnrequestedBytes) {
      const key = keyOf(origin, settings);
      const known = pools.get(key) ?? open(origin, settings);
      const holder = () => onUnrequestedBytes();
      known.holders.add(holder);
      pools.set(key, known);
      return {
        dispatcher: known.pool,
        isolate: (isIsolated) => known.pool.isolate(isIsolated),
        async letGo() {
          known.holders.delete(holder);
          if (known.holders.size > 0) return;
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

/** A function like `dns.lookup` with `all`. */
export type LookupAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Creates a look-up of names by the system. It rotates the order of the addresses, which spreads connections over them. */
export function createLookup(lookupAll: LookupAll): LookupFunction {
  let rotation = 0;
  return function lookup(hostname, options, callback) {
    lookupAll(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) {
        callback(error, '');
        return;
      }
      rotation = (rotation + 1) % 1_000_000_007;
      const at = rotation % Math.max(1, addresses.length);
      const turned = [...addresses.slice(at), ...addresses.slice(0, at)];
      if (options.all === true) callback(null, turned);
      else callback(null, turned[0]?.address ?? '', turned[0]?.family);
    });
  };
}
