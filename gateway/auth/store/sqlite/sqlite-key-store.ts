// The embedded key store: one SQLite file in the data directory, shared by every gateway process and command on this machine.

import type { DatabaseSync } from 'node:sqlite';
import { inTransaction, openSqlite } from '../../../shared/stores/sqlite.ts';
import { type Instance, type InstanceRecords, KEY_STORE_FILE, type KeyStore } from '../key-store.ts';
import { createSqliteAudit, createWriteChange } from './audit.ts';
import { prepareKeySchema } from './key-store-schema.ts';
import { createSqliteKeys } from './keys.ts';
import { createSqliteOrganizations } from './organizations.ts';
import { createKeyRows, createOrganizationRows } from './rows.ts';
import { BUSY_TIMEOUT_MS, inTransactionWithoutWaiting, type SqliteTables } from './tables.ts';

interface SqliteKeyStoreOptions {
  /** The data directory. It is created if it is absent. */
  readonly directory: string;
  /** The fingerprint is written to a new file; opening the file with a different fingerprint fails later. */
  readonly pepperFingerprint: string;
  /** See `applySteps`. */
  readonly acceptOneWay?: boolean | undefined;
  now(): number;
}

/**
 * Opens the store. Throws an Error for operators if the file is damaged, newer than this gateway, older and not accepted, or written with
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
    // There is nothing to mend, because SQLite writes a whole record or nothing, and evicts nothing.
    mend: () => undefined,
    close() {
      database.close();
    },
  };
}

/** How late a report may be before its gateway is treated as silent. A report is late if other processes were writing to the file. */
const SLACK_MS = 5000;

/** A file loses no report, so all reports are taken by the same server. */
const THE_FILE = 'file';

/** Creates the list of running gateways. */
function createSqliteInstances(database: DatabaseSync, now: () => number): InstanceRecords {
  const upsert = database.prepare('INSERT OR REPLACE INTO instances VALUES (?, ?, ?, ?, ?, ?, ?)');
  const deleteSilent = database.prepare('DELETE FROM instances WHERE reported_at + grace + ? < ?');
  const deleteOne = database.prepare('DELETE FROM instances WHERE id = ?');
  const selectHeard = database.prepare(`
    SELECT id, host, pid, started_at AS startedAtMs, position, grace AS graceMs, max(0, ? - reported_at) AS silentMs
    FROM instances WHERE reported_at + grace + ? >= ? ORDER BY id
  `);
  return {
    report({ id, host, pid, startedAtMs, position, graceMs }) {
      inTransactionWithoutWaiting(database, () => {
        const nowMs = now();
        deleteSilent.run(SLACK_MS, nowMs);
        upsert.run(id, host, pid, startedAtMs, position, graceMs, nowMs);
      });
      return THE_FILE;
    },
    remove(id) {
      deleteOne.run(id);
    },
    list() {
      const nowMs = now();
      const heard = selectHeard.all(nowMs, SLACK_MS, nowMs) as unknown as (Instance & { silentMs: number })[];
      return heard.map((instance) => ({ ...instance }));
    },
  };
}

/**
 * Digests are scattered, so a batch touches a page of the index for nearly every key. With a cache for all pages and a checkpoint every
 * other batch, a million keys take half the time. The checkpoint interval is not longer, because a gateway's write may have to run the next
 * checkpoint.
 */
const ROOM_FOR_A_BATCH = 'PRAGMA cache_size = -32000; PRAGMA wal_autocheckpoint = 8000;';

/** Creates `seed`, which adds records to a new store, and `import`, which adds missing records. */
function createSqliteBatches(tables: SqliteTables): Pick<KeyStore, 'seed' | 'import'> {
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
