// Waits until replicas of Redis have the last writes, so that a failover does not lose these writes. WAIT blocks its whole connection, so
// one call serves all writes that were sent before it.

import type { Redis as Server } from 'ioredis';
import type { Redis } from './client.ts';
import { slotOf } from './slot.ts';

export interface ReplicaWait {
  /** How many replicas must have the writes. */
  readonly replicas: number;
  /** How long to wait for them. */
  readonly replicasTimeoutMs: number;
}

/** Resolves with the number of replicas that have all writes that the server of the key has confirmed to this client. */
type CountReplicas = (key: string, wait: ReplicaWait) => Promise<number>;

interface Call extends ReplicaWait {
  readonly count: Promise<number>;
}

export function createReplicaWaits(client: Redis): CountReplicas {
  const running = new WeakMap<Server, Promise<unknown>>();
  const next = new WeakMap<Server, Call>();

  async function send(server: Server, { replicas, replicasTimeoutMs }: ReplicaWait): Promise<number> {
    await running.get(server);
    next.delete(server);
    const reply = server.wait(replicas, replicasTimeoutMs);
    running.set(
      server,
      reply.catch(() => undefined),
    );
    return reply;
  }

  return function countReplicas(key, wait) {
    const server = serverOf(client, key);
    if (server === undefined) return Promise.resolve(0);
    const call = next.get(server);
    // A call with other settings, from before a reload, cannot be shared.
    if (call?.replicas === wait.replicas && call.replicasTimeoutMs === wait.replicasTimeoutMs) return call.count;
    const count = send(server, wait);
    next.set(server, { ...wait, count });
    return count;
  };
}

/** Returns the server of a key. Returns undefined while the client does not know it. */
function serverOf(client: Redis, key: string): Server | undefined {
  if (!('nodes' in client)) return client;
  const [name] = client.slots[slotOf(key)] ?? [];
  return client.nodes('master').find(({ options }) => `${options.host}:${options.port}` === name);
}
