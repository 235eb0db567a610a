// Opens the store of answers: Redis if one is configured, otherwise a file in the data directory.

import type { Awaitable } from '../shared/awaitable.ts';
import { createRedisAnswerStore } from './redis-store.ts';
import { createSqliteAnswerStore } from './sqlite-store.ts';
import type { AnswerStore, AnswerStoreStatus } from './store.ts';

interface OpenAnswerStoreOptions {
  readonly redisUrl: string | undefined;
  readonly dataDirectory: string;
  /** See `applySteps`. */
  readonly acceptOneWay: boolean;
  now(): number;
  /** Called when the store stops answering, and when it answers again. */
  onChange(status: AnswerStoreStatus): void;
}

/** Rejects with a sentence if the file cannot be opened. If Redis is away, waits only for the first attempt to connect. */
export function openAnswerStore({
  redisUrl,
  dataDirectory,
  ...options
}: OpenAnswerStoreOptions): Awaitable<AnswerStore> {
  return redisUrl === undefined
    ? createSqliteAnswerStore({ directory: dataDirectory, ...options })
    : createRedisAnswerStore({ url: redisUrl, ...options });
}
