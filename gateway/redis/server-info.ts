// Reads the version of a Redis server and its policy for a full memory from its INFO.

import type { Cluster, Redis } from 'ioredis';
import { askRedis } from './client.ts';

/** Redis 6.2 is the first version that reads ranges of streams without the first entry. Scripts of the gateway do this. */
const OLDEST = [6, 2] as const;
const ANSWER_MAX_MS = 2000;

/**
 * Returns a sentence if the server is too old. Returns undefined otherwise, and if INFO has no version. Valkey and KeyDB report the version
 * of the Redis that they are compatible with.
 */
export function versionProblem(info: string): string | undefined {
  const version = /^redis_version:(\S+)/m.exec(info)?.[1];
  const [major = 0, minor = 0] = version?.split('.').map(Number) ?? [...OLDEST];
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return undefined;
  return `Redis ${version} is too old: Redis ${OLDEST.join('.')} or newer is needed (Valkey 7.2 and KeyDB 6.3 work, too)`;
}

/** Checks each master. Rejects with an Error for operators if a master is too old. Accepts a server that does not report its version. */
export async function requireVersion(client: Redis | Cluster): Promise<void> {
  const infos = await Promise.all(mastersOf(client).map((server) => server.info('server').catch(() => '')));
  const problem = infos.map(versionProblem).find((one) => one !== undefined);
  if (problem !== undefined) throw new Error(problem);
}

/**
 * Returns the policy by which a Redis with a full memory deletes data, such as revocations of keys. Returns undefined if Redis deletes
 * nothing, does not report a policy, or does not answer.
 */
export async function evictionPolicyAt(url: string): Promise<string | undefined> {
  try {
    return await askRedis(url, ANSWER_MAX_MS, async (client) => {
      const infos = await Promise.all(mastersOf(client).map((server) => server.info('memory')));
      const policies = infos.map((text) => /^maxmemory_policy:(\S+)/m.exec(text)?.[1]);
      return policies.find((policy) => policy !== undefined && policy !== 'noeviction');
    });
  } catch {
    return undefined;
  }
}

function mastersOf(client: Redis | Cluster): Redis[] {
  return 'nodes' in client ? client.nodes('master') : [client];
}
