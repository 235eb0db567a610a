// Chooses the store of answers: Redis when there is one to share, else a file in the data directory.

import type { Awaitable } from '../exchange.ts';
import { createRedisStore } from './redis-store.ts';
import { createSqliteStore } from './sqlite-store.ts';
import type { AnswerStore, StoreStatus } from './store.ts';

export interface OpenStoreOptions {
  readonly redisUrl: string | undefined;
  readonly dataDirectory: string;
  now(): number;
  /** Told when the store stops answering, and when it answers again. */
  onChange(status: StoreStatus): void;
}

/** Rejects with a sentence if the file cannot be opened. A Redis that is away delays nothing beyond its first attempt. */
export function openAnswerStore({ redisUrl, dataDirectory, ...options }: OpenStoreOptions): Awaitable<AnswerStore> {
  return redisUrl === undefined
    ? createSqliteStore({ directory: dataDirectory, ...options })
    : createRedisStore({ url: redisUrl, ...options });
}
