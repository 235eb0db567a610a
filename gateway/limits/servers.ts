// The Redis servers that the counters lie on: one, whoever of several is the master, or those of a Cluster.

import { parseRedisUrl } from '../redis.ts';
import { createClusterServers } from './cluster.ts';
import { createRedisLink, type RedisLink } from './redis-link.ts';

export interface ServersOptions {
  readonly url: string;
  readonly deadlineMs: number;
  readonly probeEveryMs: number;
  /** All of them can be written to, or not all of them any more. */
  readonly onChange: (up: boolean, reason: string) => void;
}

export interface Servers {
  /** The server that has this counter; undefined while nobody is known to have it. */
  linkOf(key: string): RedisLink | undefined;
  all(): readonly RedisLink[];
  /** Every one of them. */
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
