// How the embedded key store waits for other writers: up to a timeout, or not at all where requests would wait with it.

import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '../../../shared/sqlite.ts';

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
