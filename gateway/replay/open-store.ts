// Opens the replay store: Redis if one is configured, otherwise a file in the data directory.

import type { Awaitable } from '../shared/awaitable.ts';
import { createRedisReplayStore } from './redis-store.ts';
import type { ReplayStore, ReplayStoreStatus } from './replay-store.ts';
import { createSqliteReplayStore } from './sqlite-store.ts';

interface OpenReplayStoreOptions {
  readonly redisUrl: string | undefined;
  readonly dataDirectory: string;
  /** See `applySteps`. */
  readonly acceptOneWay: boolean;
  now(): number;
  /** Called when the store stops answering, and when it answers again. */
  onChange(status: ReplayStoreStatus): void;
}

/**
 * Rejects with an Error for operators if the file cannot be opened. If Redis cannot be reached, waits only for the first attempt to
 * connect.
 */
export function openReplayStore({
  redisUrl,
  dataDirectory,
  ...options
}: OpenReplayStoreOptions): Awaitable<ReplayStore> {
  return redisUrl === undefined
    ? createSqliteReplayStore({ directory: dataDirectory, ...options })
    : createRedisReplayStore({ url: redisUrl, ...options });
}
