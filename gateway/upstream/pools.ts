// Connections to the addresses of upstreams, by origin and settings. They outlive a reload of the configuration.

import { createHash } from 'node:crypto';
import { isIP, type LookupFunction } from 'node:net';
import { Client, type Dispatcher, Pool } from 'undici';

export interface PoolSettings {
  /** Connections per target. */
  readonly connections: number;
  /** For one connection, TLS included. */
  readonly connectTimeoutMs: number;
  /** A connection that is older gets no further request, so that names are looked up again while requests never pause. */
  readonly connectionMaxAgeSeconds: number;
  /** For https:// origins; absent: the authorities that everybody trusts. */
  readonly tls?: TlsSettings | undefined;
}

/** PEM texts. */
export interface TlsSettings {
  /** Authorities that are trusted, in place of those that everybody trusts. */
  readonly ca?: string | undefined;
  /** What the gateway shows, with what comes between it and its authority. */
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  /** Whose certificate is expected; absent: that of the host in the address. */
  readonly serverName?: string | undefined;
}

/** Connections by origin and settings, each held by whoever sends over them. */
export interface Pools {
  hold(origin: string, settings: PoolSettings): HeldPool;
  /** One connection of the same kind, outside of the pool; it is the asker's to destroy. */
  single(origin: string, settings: PoolSettings): Dispatcher;
}

export interface HeldPool {
  readonly dispatcher: Dispatcher;
  /** Whoever lets go last closes the connections, once requests in flight have ended. */
  letGo(): Promise<void>;
}

/** @param lookup how names become addresses */
export function createPools(lookup: LookupFunction): Pools {
  const pools = new Map<string, { readonly pool: Pool; holders: number }>();

  return {
    hold(origin, settings) {
      const key = keyOf(origin, settings);
      const known = pools.get(key) ?? { pool: new Pool(origin, poolOptions(origin, settings, lookup)), holders: 0 };
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
    single: (origin, settings) => new Client(origin, clientOptions(settings, lookup)),
  };
}

function keyOf(origin: string, settings: PoolSettings): string {
  return createHash('sha256')
    .update(JSON.stringify([origin, settings]))
    .digest('base64');
}

function poolOptions(origin: string, settings: PoolSettings, lookup: LookupFunction): Pool.Options {
  const { connections, connectionMaxAgeSeconds } = settings;
  // An address that is no name stays where it is; undici looks at the clock for each connection, 1.5 µs per request.
  const clientTtl = isName(new URL(origin).hostname) ? connectionMaxAgeSeconds * 1000 : null;
  return { connections, clientTtl, ...clientOptions(settings, lookup) };
}

function isName(hostname: string): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0;
}

function clientOptions({ connectTimeoutMs, tls }: PoolSettings, lookup: LookupFunction): Client.Options {
  return {
    // The exchange has a deadline of its own, from first byte to last; these would only add timers.
    headersTimeout: 0,
    bodyTimeout: 0,
    // One request at a time on each connection: what is slow holds nothing else up.
    allowH2: false,
    connect: {
      timeout: connectTimeoutMs,
      lookup,
      // Of a name with several addresses, the next one is tried when one refuses or does not answer.
      autoSelectFamily: true,
      ...(tls && { ca: tls.ca, cert: tls.certificate, key: tls.key, servername: tls.serverName }),
    },
  };
}
