// Batch writes of the embedded key store: seed (new records only) and import (adds missing records).

import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '../../../shared/sqlite.ts';
import type { KeyStore, StoredKey } from '../key-store.ts';
import type { WriteChange } from './audit.ts';
import { type InsertKey, insertNewKey } from './key-rows.ts';
import type { InsertOrganization, ReadOrganization } from './organizations.ts';

/**
 * Digests are scattered, so a batch touches a page of the index for nearly every key: with a cache for all of them and a checkpoint every
 * other batch, a million keys take half the time. The checkpoint interval is not longer, because a gateway's write may have to run the next
 * checkpoint.
 */
const ROOM_FOR_A_BATCH = 'PRAGMA cache_size = -32000; PRAGMA wal_autocheckpoint = 8000;';

export interface BatchOptions {
  readonly database: DatabaseSync;
  readonly insertOrganization: InsertOrganization;
  readonly readOrganization: ReadOrganization;
  readonly insertKey: InsertKey;
  readonly writeChange: WriteChange;
}

export function createSqliteSeed({
  database,
  insertOrganization,
  insertKey,
  writeChange,
}: BatchOptions): KeyStore['seed'] {
  return function seed(organizations, keys, by) {
    inTransaction(database, () => {
      for (const organization of organizations) {
        if (!insertOrganization(organization)) throw new Error(`The organization ${organization.id} exists already.`);
      }
      for (const key of keys) insertNewKey(insertKey, key);
      const details = { organizations: organizations.length, keys: keys.length };
      writeChange({ by, kind: 'organizations.seeded', details });
    });
  };
}

export function createSqliteImport(options: BatchOptions): KeyStore['import'] {
  const { database, insertOrganization, readOrganization, insertKey, writeChange } = options;
  return function importRecords(organizations, keys, by) {
    database.exec(ROOM_FOR_A_BATCH);
    return inTransaction(database, () => {
      const newOrganizations = organizations.filter(insertOrganization);
      requireOrganizations(keys, readOrganization);
      const imported = { organizations: newOrganizations.length, keys: keys.filter(insertKey).length };
      if (imported.organizations + imported.keys > 0) writeChange({ by, kind: 'records.imported', details: imported });
      return imported;
    });
  };
}

function requireOrganizations(keys: readonly StoredKey[], readOrganization: ReadOrganization): void {
  for (const id of new Set(keys.map(({ organization }) => organization))) {
    if (readOrganization(id) === undefined) throw new Error(`The organization ${id} does not exist.`);
  }
}
