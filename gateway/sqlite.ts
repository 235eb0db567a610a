// How this gateway opens a SQLite file: the one place where permissions, journal and transactions are settled. What is in it is the business of each
// concern.

import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export interface SqliteOptions {
  /** The data directory; made if absent. */
  readonly directory: string;
  readonly file: string;
  /** What the file is, as messages call it. */
  readonly what: string;
  /** How long a write waits for one of another process; everything else stands still meanwhile. */
  readonly busyTimeoutMs: number;
  /** Brings the open file into its present form. Throws a sentence for people if it cannot. */
  readonly prepare: (database: DatabaseSync) => void;
}

/** The open database, readable by its owner only. Throws a sentence that names the file and what is wrong with it. */
export function openSqlite({ directory, file, what, busyTimeoutMs, prepare }: SqliteOptions): DatabaseSync {
  const path = join(directory, file);
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
    // A file restored from a backup may be open to others, and SQLite gives its side files the mode of this one.
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
    database = new DatabaseSync(path, { timeout: busyTimeoutMs });
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    prepare(database);
    return database;
  } catch (cause) {
    database?.close();
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${what} ${path} cannot be opened: ${reason}`, { cause });
  }
}

const CLAIM_FILE = 'running.lock';
/** SQLITE_BUSY */
const BUSY = 5;

/**
 * Claims a data directory for one gateway until the returned function is called or the process ends, in whatever way: the claim is a
 * lock of the operating system on a file in it. Commands that work on the same directory are not kept out.
 *
 * @throws a sentence that says who has it
 */
export function claimDirectory(directory: string): () => void {
  const path = join(directory, CLAIM_FILE);
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    database?.close();
    if ((cause as { errcode?: number }).errcode !== BUSY) {
      throw new Error(`The data directory ${directory} cannot be claimed: ${(cause as Error).message}`, { cause });
    }
    throw new Error(
      `Another gateway runs on the data directory ${directory}: without Redis, each of them would admit every limit by itself. Stop it, or name another directory in GATEWAY_DATA; for several gateways, set REDIS_URL.`,
      { cause },
    );
  }
  return () => database.close();
}

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
