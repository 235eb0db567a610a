// Transactions of the embedded key store: one that waits for its turn, and one that never does.

import type { DatabaseSync } from 'node:sqlite';

export const BUSY_TIMEOUT_MS = 5000;

/** All or nothing; a second process waits for its turn. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (cause) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw cause;
  }
}

/** The same, but if another process is writing it throws at once: a serving process must not stand still for it. */
export function inTransactionWithoutWaiting<T>(database: DatabaseSync, work: () => T): T {
  database.exec('PRAGMA busy_timeout = 0');
  try {
    return inTransaction(database, work);
  } finally {
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  }
}
