// Opens the alert store: in Redis if one is configured, otherwise in a file of the data directory.

import { createFileAlertStore } from './file-store.ts';
import { createRedisAlertStore } from './redis-store.ts';
import type { AlertStore } from './store.ts';

interface OpenAlertStoreOptions {
  readonly redisUrl: string | undefined;
  readonly dataDirectory: string;
  /** Epoch milliseconds. */
  now(): number;
}

export function openAlertStore({ redisUrl, dataDirectory, now }: OpenAlertStoreOptions): AlertStore {
  return redisUrl === undefined ? createFileAlertStore(dataDirectory, now) : createRedisAlertStore(redisUrl, now);
}
