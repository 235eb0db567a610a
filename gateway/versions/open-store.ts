// Chooses the store of uses: Redis when there is one to share, else a file in the data directory.

import type { Awaitable } from '../exchange.ts';
import { createRedisStore } from './redis-store.ts';
import { createSqliteStore } from './sqlite-store.ts';
import type { UseStore } from './store.ts';

export interface OpenUseStoreOptions {
  readonly redisUrl: string | undefined;
  readonly dataDirectory: string;
  now(): number;
}

export function openUseStore({ redisUrl, dataDirectory, now }: OpenUseStoreOptions): Awaitable<UseStore> {
  return redisUrl === undefined ? createSqliteStore(dataDirectory, now) : createRedisStore(redisUrl, now);
}
