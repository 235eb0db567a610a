// The Redis servers that hold the counters: a single server, the current master of several, or those of a Cluster.

import { parseRedisUrl } from '../redis/url.ts';
import { createClusterServers } from './cluster.ts';
import { createRedisLink, type RedisLink } from './redis-link.ts';

export interface ServersOptions {
  readonly url: string;
  readonly deadlineMs: number;
  readonly probeEveryMs: number;
  /** Called when all servers accept writes, or when the first of them no longer does. */
  readonly onChange: (up: boolean, reason: string) => void;
}

export interface Servers {
  /** Link to the server that holds this counter; undefined while it is unknown. */
  linkOf(key: string): RedisLink | undefined;
  all(): readonly RedisLink[];
  /** Whether all servers are up. */
  areUp(): boolean;
  /** Resolves when the first attempt to connect has succeeded or failed. */
  readonly opened: Promise<void>;
  close(): void;
}

export function openServers(options: ServersOptions): Servers {
  const address = parseRedisUrl(options.url);
  if (address?.kind === 'cluster') return createClusterServers({ ...options, seeds: address.servers });
  const link = createRedisLink({ ...options, probeKey: () => 'rl:{probe}' });
  return { linkOf: () => link, all: () => [link], areUp: link.isUp, opened: link.opened, close: link.close };
}
