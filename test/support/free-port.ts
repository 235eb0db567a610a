// A port for a server that cannot choose one by itself.

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * The range is above 10080, the last port that `fetch` blocks (Fetch standard, "Port blocking"), and below the ports that the system gives
 * to connections: a connection could take such a port before the test uses it.
 */
const PORTS = { first: 10_081, end: 32_768 } as const;

/** Returns a port of this machine that was free a moment ago. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.first, PORTS.end);
    const probe = createServer().listen(port, '127.0.0.1');
    try {
      await once(probe, 'listening');
    } catch {
      continue;
    }
    probe.close();
    await once(probe, 'close');
    return port;
  }
}
