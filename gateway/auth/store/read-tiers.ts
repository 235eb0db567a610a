// Reads the tier of each organization, for `check`. It does not open the key store, because that would create or upgrade the store.

import { join } from 'node:path';
import { askRedis } from '../../redis/client.ts';
import { sqliteProblem } from '../../shared/stores/sqlite.ts';
import { KEY_STORE_FILE } from './key-store.ts';
import { TIERS } from './redis/key-store-script.ts';

const REDIS_TIMEOUT_MS = 1000;
const AT_ONCE = 1000;

interface Place {
  readonly redisUrl?: string | undefined;
  readonly dataDirectory: string;
}

/**
 * Calls `see` with the id and the tier of each organization; with Redis, perhaps twice with the same organization. Never fails; a store
 * that cannot be read is treated as empty.
 */
export async function readTiers(
  { redisUrl, dataDirectory }: Place,
  see: (id: string, tier: string) => void,
): Promise<void> {
  if (redisUrl !== undefined) return readFromRedis(redisUrl, see).catch(() => undefined);
  sqliteProblem(join(dataDirectory, KEY_STORE_FILE), (database) => {
    const rows = database.prepare('SELECT id, tier FROM organizations').iterate();
    for (const { id, tier } of rows) see(String(id), String(tier));
  });
}

async function readFromRedis(url: string, see: (id: string, tier: string) => void): Promise<void> {
  await askRedis(url, REDIS_TIMEOUT_MS, async (client) => {
    let cursor = '0';
    do {
      const [next, found] = await client.hscan(TIERS, cursor, 'COUNT', AT_ONCE);
      for (let index = 0; index < found.length; index += 2) see(found[index] ?? '', found[index + 1] ?? '');
      cursor = next;
    } while (cursor !== '0');
  });
}
