// Opens the usage store: in Redis if one is configured, otherwise in a file of the data directory.

import type { ConnectRedis } from '../redis/client.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import { createRedisUsageStore } from './redis-store.ts';
import { createSqliteUsageStore } from './sqlite-store.ts';
import type { UsageStore, UsageStoreOptions } from './store.ts';

export interface OpenUsageStoreOptions extends UsageStoreOptions {
  readonly redisUrl: string | undefined;
  readonly connect?: ConnectRedis | undefined;
  readonly dataDirectory: string;
  /** See `applySteps`. */
  readonly acceptOneWay?: boolean | undefined;
}

/** Opens the store. Rejects with an Error for operators if a file cannot be opened. Waits only for the first attempt to connect to Redis. */
export function openUsageStore({ redisUrl, dataDirectory, ...options }: OpenUsageStoreOptions): Awaitable<UsageStore> {
  return redisUrl === undefined
    ? createSqliteUsageStore({ directory: dataDirectory, ...options })
    : createRedisUsageStore({ url: redisUrl, ...options });
}
