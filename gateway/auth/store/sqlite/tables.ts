// The open database of the embedded key store, which its parts share, and writes that do not wait for other writers.

import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '../../../shared/stores/sqlite.ts';
import type { WriteChange } from './audit.ts';
import type { KeyRows, OrganizationRows } from './rows.ts';

export interface SqliteTables {
  readonly database: DatabaseSync;
  readonly organizations: OrganizationRows;
  readonly keys: KeyRows;
  readonly writeChange: WriteChange;
  now(): number;
}

export const BUSY_TIMEOUT_MS = 5000;

/** Throws at once if another process is writing: a process that serves requests must not block. */
export function inTransactionWithoutWaiting<T>(database: DatabaseSync, work: () => T): T {
  database.exec('PRAGMA busy_timeout = 0');
  try {
    return inTransaction(database, work);
  } finally {
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  }
}
