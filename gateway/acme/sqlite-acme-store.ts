// The embedded certificate store is the file `acme.sqlite` in the data directory, which only its owner can read. One gateway process and
// its commands use it.

import type { DatabaseSync } from 'node:sqlite';
import { inTransaction, openSqlite } from '../shared/stores/sqlite.ts';
import { applySteps, type SchemaSteps } from '../shared/stores/sqlite-schema.ts';
import type { AcmeChanges, AcmeRecords, AcmeStore } from './acme-store.ts';

export const ACME_FILE = 'acme.sqlite';
const BUSY_TIMEOUT_MS = 1000;
export const ACME_STEPS: SchemaSteps = [
  `CREATE TABLE records (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
   CREATE TABLE state (version INTEGER NOT NULL, token INTEGER NOT NULL, until_ms INTEGER NOT NULL) STRICT;
   INSERT INTO state VALUES (0, 0, 0);`,
];

interface SqliteAcmeStoreOptions {
  readonly directory: string;
  /** See `applySteps`. */
  readonly acceptOneWay?: boolean | undefined;
  /** The clock of the lease. */
  now(): number;
}

/** Opens the store. Throws an Error for operators if the file cannot be opened. */
export function createSqliteAcmeStore({ directory, acceptOneWay, now }: SqliteAcmeStoreOptions): AcmeStore {
  const database = openSqlite({
    directory,
    file: ACME_FILE,
    what: 'The certificate store',
    busyTimeoutMs: BUSY_TIMEOUT_MS,
    prepare: (opened) => applySteps(opened, ACME_STEPS, { acceptOneWay }),
  });
  const state = database.prepare('SELECT version, token, until_ms FROM state');
  const listeners = new Set<() => void>();
  let known: { readonly version: number; readonly records: AcmeRecords } | undefined;
  const stateNow = () => state.get() as { version: number; token: number; until_ms: number };
  const inOneStep = <T>(work: () => T) => inTransaction(database, work);

  function announce(): void {
    for (const listener of listeners) listener();
  }

  return {
    now,
    read() {
      const { version } = stateNow();
      if (known?.version !== version)
        known = inOneStep(() => ({ version: stateNow().version, records: all(database) }));
      return known.records;
    },
    take: (forMs) =>
      inOneStep(() => {
        const { token, until_ms } = stateNow();
        // A lease that ends much later than a new lease would is ignored, because it was written before the clock was set back.
        if (until_ms > now() && until_ms <= now() + 2 * forMs) return undefined;
        database.prepare('UPDATE state SET token = ?, until_ms = ?').run(token + 1, now() + forMs);
        return token + 1;
      }),
    confirm: (token, forMs) =>
      database.prepare('UPDATE state SET until_ms = ? WHERE token = ?').run(now() + forMs, token).changes === 1,
    release(token) {
      database.prepare('UPDATE state SET until_ms = 0 WHERE token = ?').run(token);
    },
    write(token, changes) {
      const isWritten = inOneStep(() => {
        if (stateNow().token !== token) return false;
        apply(database, changes);
        return true;
      });
      if (isWritten) announce();
      return isWritten;
    },
    put(changes) {
      inOneStep(() => apply(database, changes));
      announce();
    },
    subscribe(onChange) {
      listeners.add(onChange);
      return () => void listeners.delete(onChange);
    },
    close: () => database.close(),
  };
}

function all(database: DatabaseSync): AcmeRecords {
  const rows = database.prepare('SELECT name, value FROM records').all() as { name: string; value: string }[];
  return new Map(rows.map(({ name, value }) => [name, value]));
}

function apply(database: DatabaseSync, changes: AcmeChanges): void {
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) database.prepare('DELETE FROM records WHERE name = ?').run(name);
    else database.prepare('INSERT OR REPLACE INTO records VALUES (?, ?)').run(name, value);
  }
  database.exec('UPDATE state SET version = version + 1');
}
