// Opens the store of deprecated calls: Redis if one is configured, otherwise a file in the data directory.

import type { Awaitable } from '../shared/awaitable.ts';
import { createRedisUseStore } from './redis-store.ts';
import { createSqliteUseStore } from './sqlite-store.ts';
import type { UseStore } from './store.ts';

export interface OpenUseStoreOptions {
  readonly redisUrl: string | undefined;
  readonly dataDirectory: string;
  now(): number;
}

export function openUseStore({ redisUrl, dataDirectory, now }: OpenUseStoreOptions): Awaitable<UseStore> {
  return redisUrl === undefined ? createSqliteUseStore(dataDirectory, now) : createRedisUseStore(redisUrl, now);
}
