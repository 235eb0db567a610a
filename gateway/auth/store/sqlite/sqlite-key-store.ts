// The embedded key store: one SQLite file in the data directory, shared by every gateway process and command on this machine.

import { openSqlite } from '../../../shared/stores/sqlite.ts';
import { KEY_STORE_FILE, type KeyStore } from '../key-store.ts';
import { createSqliteAudit, createWriteChange } from './audit.ts';
import { createSqliteInstances } from './instances.ts';
import { prepareKeySchema } from './key-store-schema.ts';
import { createSqliteKeys } from './keys.ts';
import { createSqliteOrganizations } from './organizations.ts';
import { createKeyRows, createOrganizationRows } from './rows.ts';
import { createSqliteBatches } from './seed-and-import.ts';
import { BUSY_TIMEOUT_MS } from './tables.ts';

interface SqliteKeyStoreOptions {
  /** The data directory; created if absent. */
  readonly directory: string;
  /** Written to a new file; opening with a different one fails later. */
  readonly pepperFingerprint: string;
  /** See `applySteps`. */
  readonly acceptOneWay?: boolean | undefined;
  now(): number;
}

/**
 * Opens the store. Throws a sentence for operators if the file is damaged, newer than this gateway, older and not accepted, or written with
 * another pepper.
 */
export function createSqliteKeyStore(options: SqliteKeyStoreOptions): KeyStore {
  const { directory, pepperFingerprint, acceptOneWay, now } = options;
  const database = openSqlite({
    directory,
    file: KEY_STORE_FILE,
    what: 'The key store',
    busyTimeoutMs: BUSY_TIMEOUT_MS,
    prepare: (opened) => prepareKeySchema(opened, pepperFingerprint, acceptOneWay),
  });
  const writeChange = createWriteChange(database, now);
  const tables = {
    database,
    organizations: createOrganizationRows(database),
    keys: createKeyRows(database),
    writeChange,
    now,
  };
  return {
    organizations: createSqliteOrganizations(tables),
    keys: createSqliteKeys(tables),
    audit: createSqliteAudit(database, writeChange),
    instances: createSqliteInstances(database, now),
    pepperFingerprint,
    ...createSqliteBatches(tables),
    // A database writes all of a record or nothing, and evicts nothing.
    mend: () => undefined,
    close() {
      database.close();
    },
  };
}
