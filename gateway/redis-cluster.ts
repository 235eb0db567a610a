// The client of a Redis Cluster: it refuses commands while no server is connected, and holds those to a server that is just being connected.

import { Cluster, type ClusterNode, type Command, type CommonRedisOptions } from 'ioredis';

/** A moved slot is asked for where it lies now, and once more if it moves meanwhile. */
const REDIRECTIONS_MAX = 3;
const SLOTS_ANSWER_MAX_MS = 1000;

export interface ClusterSettings {
  readonly seeds: readonly ClusterNode[];
  /** Of the connection to each server. */
  readonly server: Omit<CommonRedisOptions, 'replyMapping'>;
  readonly retryAfterMs: (attempt: number) => number;
}

/**
 * Connects at once and comes back by itself. The servers are connected to when they are first asked; what is asked meanwhile waits for
 * the connection, and fails with it.
 */
export function createCluster({ seeds, server, retryAfterMs }: ClusterSettings): Cluster {
  return new PromptCluster([...seeds], {
    // Also of each server: without a queue, the commands behind the first one to a server would be refused until it is connected.
    enableOfflineQueue: true,
    // The library asks one server, and gives up all connections if that one is dead. See `isServing`.
    enableReadyCheck: false,
    maxRedirections: REDIRECTIONS_MAX,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    slotsRefreshTimeout: SLOTS_ANSWER_MAX_MS,
    clusterRetryStrategy: retryAfterMs,
    // Each connection looks up its own name: of several seeds, one whose name is gone must not keep the others from being asked.
    dnsLookup: (name, callback) => callback(null, name),
    redisOptions: server,
  });
}

/** The library would hold commands as long as it is not connected, without a deadline. */
class PromptCluster extends Cluster {
  override sendCommand(...[command, ...rest]: Parameters<Cluster['sendCommand']>): unknown {
    if (this.status === 'ready' || command.name === 'cluster') return super.sendCommand(command, ...rest);
    (command as Command).reject(new Error('the Cluster is not connected'));
    return command.promise;
  }
}

/** Connects to all masters. True if one of them answers that the Cluster can be asked, or will not tell. */
export async function isServing(cluster: Cluster): Promise<boolean> {
  const answers = cluster.nodes('master').map(async (server) => {
    const state = await server.cluster('INFO').catch((error: Error) => {
      if (error.name === 'ReplyError') return '';
      throw error;
    });
    if (state.includes('cluster_state:fail')) throw new Error('cluster_state:fail');
  });
  return Promise.any(answers).then(
    () => true,
    () => false,
  );
}
