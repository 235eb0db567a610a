// The oldest supported Redis: scripts read ranges of streams without their first entry, which needs Redis 6.2.

import type { Cluster, Redis } from 'ioredis';

const MINIMUM = [6, 2] as const;

/** A sentence if the server is too old; undefined if not, or without a version. Valkey and KeyDB report the Redis version they match. */
export function versionProblem(info: string): string | undefined {
  const version = /^redis_version:(\S+)/m.exec(info)?.[1];
  const [major = 0, minor = 0] = version?.split('.').map(Number) ?? [...MINIMUM];
  if (major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1])) return undefined;
  return `Redis ${version} is too old: Redis ${MINIMUM.join('.')} or newer is needed (Valkey 7.2 and KeyDB 6.3 work, too)`;
}

/** Checks each master. Rejects with a sentence if one is too old; accepts a server that does not report its version. */
export async function requireVersion(client: Redis | Cluster): Promise<void> {
  const servers = 'nodes' in client ? client.nodes('master') : [client];
  const infos = await Promise.all(servers.map((server) => server.info('server').catch(() => '')));
  const objection = infos.map(versionProblem).find((one) => one !== undefined);
  if (objection !== undefined) throw new Error(objection);
}
