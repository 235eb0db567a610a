// The key store that is measured: an embedded one in a directory of its own, or one in a Redis that has nothing else in it.

import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyStore } from '../gateway/auth/store/key-store.ts';
import { openRedisStore } from '../gateway/auth/store/redis/redis-key-store.ts';
import { createSqliteKeyStore } from '../gateway/auth/store/sqlite/sqlite-key-store.ts';
import { connectRedis } from '../gateway/redis/client.ts';
import { temporaryDirectory } from '../test/support/directory.ts';
import { pepperFingerprint } from './sample-keys.ts';

export interface StoreInUse {
  /** May be called again after the store was closed. */
  open(): Promise<KeyStore>;
  /** The size of the store itself: bytes of its files, or of the server's memory. */
  bytes(): Promise<number>;
  /** Written data stays in Redis, and goes with the directory. */
  end(): Promise<void>;
}

const now = Date.now;

export function useSqlite(): StoreInUse {
  const directory = temporaryDirectory();
  return {
    open: async () => createSqliteKeyStore({ directory, pepperFingerprint, now }),
    bytes: async () => readdirSync(directory).reduce((sum, file) => sum + statSync(join(directory, file)).size, 0),
    end: async () => rmSync(directory, { recursive: true }),
  };
}

export async function useRedis(url: string): Promise<StoreInUse> {
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  const client = connectRedis({ url, onReady: resolve, onLost: reject });
  await ready;
  if ((await client.dbsize()) > 0) throw new Error('This Redis holds data. Measure with one that is empty.');
  return {
    open: () => openRedisStore({ url, pepperFingerprint, now }),
    bytes: async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]),
    end: async () => client.disconnect(),
  };
}
