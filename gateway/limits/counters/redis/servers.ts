// The Redis servers that hold the counters, as the store sees them. cluster.ts implements them for a Cluster.

import { createRedisLink, type RedisLink, type RedisLinkOptions } from './link.ts';

/** One server, the current master that Sentinels name, or the servers of a Cluster. */
export interface RedisServers {
  /** The one link that holds all counters. Undefined in a Cluster: ask `linkOf`. */
  readonly single?: RedisLink;
  /** Link to the server that holds this counter; undefined while it is unknown. */
  linkOf(key: string): RedisLink | undefined;
  all(): readonly RedisLink[];
  /** Whether all servers accept writes. */
  areUp(): boolean;
  /** Resolves when the first attempt to connect has succeeded or failed. */
  readonly opened: Promise<void>;
  close(): void;
}

/** `onChange` is called when all servers accept writes, or when the first of them no longer does. */
export type RedisServersOptions = Pick<
  RedisLinkOptions,
  'url' | 'deadlineMs' | 'probeEveryMs' | 'onChange' | 'connect' | 'machine'
>;

/** Connects to a single server, or to the master that Sentinels name. */
export function createSingleServer(options: RedisServersOptions): RedisServers {
  const link = createRedisLink({ ...options, probeKey: () => 'rl:{probe}' });
  return {
    single: link,
    linkOf: () => link,
    all: () => [link],
    areUp: link.isUp,
    opened: link.opened,
    close: link.close,
  };
}
