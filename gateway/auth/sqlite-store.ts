// The embedded key store: one SQLite file in the data directory, shared by every gateway process and command on this machine.

import { createSqliteAudit, createWriteChange } from './sqlite-audit.ts';
import { createImport, createSeed } from './sqlite-batches.ts';
import { openDatabase } from './sqlite-database.ts';
import { createSqliteInstances } from './sqlite-instances.ts';
import { createInsertKey, createReadKey } from './sqlite-key-rows.ts';
import { createSqliteKeys } from './sqlite-keys.ts';
import { createInsertOrganization, createReadOrganization, createSqliteOrganizations } from './sqlite-organizations.ts';
import type { KeyStore } from './store.ts';

export interface SqliteStoreOptions {
  /** The data directory; made if absent. */
  readonly directory: string;
  /** Written when the file is made; later a different one refuses to open. */
  readonly pepperFingerprint: string;
  now(): number;
}

/** Opens the store. Throws a sentence for people if the file is damaged, newer than this gateway, or made with another pepper. */
export function createSqliteStore({ directory, pepperFingerprint, now }: SqliteStoreOptions): KeyStore {
  const database = openDatabase(directory, pepperFingerprint);
  const writeChange = createWriteChange(database, now);
  const insertOrganization = createInsertOrganization(database);
  const readOrganization = createReadOrganization(database);
  const insertKey = createInsertKey(database);
  const readKey = createReadKey(database);
  const batch = { database, insertOrganization, readOrganization, insertKey, writeChange };
  return {
    organizations: createSqliteOrganizations(database, insertOrganization, readOrganization, writeChange),
    keys: createSqliteKeys({ database, insertKey, readKey, readOrganization, writeChange, now }),
    audit: createSqliteAudit(database, writeChange),
    instances: createSqliteInstances(database, now),
    pepperFingerprint,
    seed: createSeed(batch),
    import: createImport(batch),
    close() {
      database.close();
    },
  };
}
