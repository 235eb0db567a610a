// The process that is attacked with resets: small limits, a tunnel, and short timeouts, so that work left behind by a client is given up
// while the test runs.

import { createSiege, type Siege } from './besieged-process.ts';
import { LIMITS } from './cases/limits.ts';

/** Of the tunnel, for an address that errs and comes back all the time. */
const roomy = { requests: 1_000_000, connections: 1000, connectionsTotal: 1000, failures: 1_000_000 };

/** @param options.tls the public listener speaks TLS, and has a plain one beside it */
export function createBoundedSiege(options: { readonly tls?: boolean } = {}): Siege {
  return createSiege({
    gateway: {
      limits: LIMITS,
      timeouts: { headersMs: 2000, requestMs: 2000, writeIdleMs: 1000 },
    },
    entry: { tunnels: [{ paths: ['/pipe/*'], webSocket: true, limits: roomy }] },
    perAddress: 200,
    ...options,
  });
}
