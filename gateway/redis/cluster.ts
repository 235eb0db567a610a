// The client of a Redis Cluster. It rejects commands while no server is connected. Commands for a server whose connection is being made
// wait for that connection.

import type { Cluster, ClusterNode, Command, CommonRedisOptions } from 'ioredis';
import { redisLibrary } from './library.ts';

/** The number of times that a command follows its slot, if the slot moves to another server. */
const REDIRECTIONS_MAX = 3;
const SLOTS_ANSWER_MAX_MS = 1000;

interface ClusterSettings {
  readonly seeds: readonly ClusterNode[];
  /** Options of the connection to each server. */
  readonly server: Omit<CommonRedisOptions, 'replyMapping'>;
  readonly retryAfterMs: (attempt: number) => number;
}

/**
 * Connects at once and reconnects by itself. The connection to each server opens on the first command for it; commands wait for that
 * connection, and fail if it fails.
 */
export function createCluster({ seeds, server, retryAfterMs }: ClusterSettings): Cluster {
  const PromptCluster = promptClusterOf(redisLibrary());
  return new PromptCluster([...seeds], {
    // This option also applies to the connection of each server. Without the queue, the second command to a server would be rejected while
    // the connection for the first command is made.
    enableOfflineQueue: true,
    // The library's check asks one server, and drops all connections if this server is dead. `isServing` replaces it.
    enableReadyCheck: false,
    maxRedirections: REDIRECTIONS_MAX,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    slotsRefreshTimeout: SLOTS_ANSWER_MAX_MS,
    clusterRetryStrategy: retryAfterMs,
    // Each connection looks up its own name, because a seed whose name no longer resolves must not keep the client from the other seeds.
    dnsLookup: (name, callback) => callback(null, name),
    redisOptions: server,
  });
}

/** Returns a class that rejects commands while the Cluster is not connected. The library would queue them without a deadline. */
function promptClusterOf({ Cluster }: ReturnType<typeof redisLibrary>) {
  return class PromptCluster extends Cluster {
    override sendCommand(...[command, ...rest]: Parameters<InstanceType<typeof Cluster>['sendCommand']>): unknown {
      if (this.status === 'ready' || command.name === 'cluster') return super.sendCommand(command, ...rest);
      (command as Command).reject(new Error('the Cluster is not connected'));
      return command.promise;
    }
  };
}

/** Connects to all masters. Returns true if one of them reports a state other than failed, or refuses the command. */
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
