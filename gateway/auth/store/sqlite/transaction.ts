// How the embedded key store waits for other writers: for its turn, or, where a request would wait with it, not at all.

import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '../../../sqlite.ts';

export const BUSY_TIMEOUT_MS = 5000;

/** A transaction that throws at once if another process is writing: a serving process must not stand still for it. */
export function inTransactionWithoutWaiting<T>(database: DatabaseSync, work: () => T): T {
  database.exec('PRAGMA busy_timeout = 0');
  try {
    return inTransaction(database, work);
  } finally {
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  }
}
