// Batch writes of the embedded key store: `seed` adds new records only, `import` adds missing ones.

import { inTransaction } from '../../../shared/stores/sqlite.ts';
import type { KeyStore } from '../key-store.ts';
import type { SqliteTables } from './tables.ts';

/**
 * Digests are scattered, so a batch touches a page of the index for nearly every key: with a cache for all of them and a checkpoint every
 * other batch, a million keys take half the time. The checkpoint interval is not longer, because a gateway's write may have to run the next
 * checkpoint.
 */
const ROOM_FOR_A_BATCH = 'PRAGMA cache_size = -32000; PRAGMA wal_autocheckpoint = 8000;';

export function createSqliteBatches(tables: SqliteTables): Pick<KeyStore, 'seed' | 'import'> {
  const { database, writeChange } = tables;
  return {
    seed(organizations, keys, by) {
      inTransaction(database, () => {
        for (const organization of organizations) {
          if (!tables.organizations.insert(organization))
            throw new Error(`The organization ${organization.id} exists already.`);
        }
        for (const key of keys) tables.keys.insertNew(key);
        const details = { organizations: organizations.length, keys: keys.length };
        writeChange({ by, kind: 'organizations.seeded', details });
      });
    },
    import(organizations, keys, by) {
      database.exec(ROOM_FOR_A_BATCH);
      return inTransaction(database, () => {
        const newOrganizations = organizations.filter(tables.organizations.insert);
        for (const id of new Set(keys.map(({ organization }) => organization))) {
          if (tables.organizations.read(id) === undefined) throw new Error(`The organization ${id} does not exist.`);
        }
        const imported = { organizations: newOrganizations.length, keys: keys.filter(tables.keys.insert).length };
        if (imported.organizations + imported.keys > 0)
          writeChange({ by, kind: 'records.imported', details: imported });
        return imported;
      });
    },
  };
}
