// Opens the session store: Redis if one is configured, otherwise a file in the data directory.

import type { KeyRing } from '../../shared/stores/seal.ts';
import type { SessionStore } from './session-store.ts';

interface OpenSessionStoreOptions {
  readonly redisUrl: string | undefined;
  readonly dataDirectory: string;
  /** See `applySteps`. */
  readonly acceptOneWay: boolean;
  now(): number;
  /** The keys that seal tokens, from the secrets entry `session_keys`. */
  readonly keys: KeyRing;
}

/**
 * Rejects with an Error for operators if the file cannot be opened. If Redis cannot be reached, waits only for the first attempt to
 * connect.
 */
export async function openSessionStore(options: OpenSessionStoreOptions): Promise<SessionStore> {
  const { redisUrl: url, dataDirectory: directory, acceptOneWay, now, keys } = options;
  if (url === undefined) {
    const { createSqliteSessionStore } = await import('./sqlite/sqlite-session-store.ts');
    return createSqliteSessionStore({ directory, acceptOneWay, now, keys });
  }
  const { openRedisSessionStore } = await import('./redis/redis-session-store.ts');
  return openRedisSessionStore({ url, keys });
}
