// Opens every SQLite file with the same permissions and journal, and runs transactions. Each concern owns the content of its file.

import { accessSync, chmodSync, closeSync, constants, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

interface SqliteOptions {
  /** The data directory. It is created if it is absent. */
  readonly directory: string;
  readonly file: string;
  /** Name of the store in messages. */
  readonly what: string;
  /** How long a write waits for another process that is writing. This process is blocked during the wait. */
  readonly busyTimeoutMs: number;
  /** Migrates the open file to the current schema. Throws an Error for operators. */
  readonly prepare: (database: DatabaseSync) => void;
}

/** Opens a database that only its owner can read. Throws an Error for operators with the file and the reason. */
export function openSqlite({ directory, file, what, busyTimeoutMs, prepare }: SqliteOptions): DatabaseSync {
  const path = join(directory, file);
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
    // A file restored from a backup may be readable by others, and SQLite copies its mode to the side files.
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

/**
 * Examines a database without changing it. Returns the reason why it cannot be opened; undefined if it can be, or does not exist.
 *
 * @param check throws an Error for operators about the contents
 */
export function sqliteProblem(path: string, check: (database: DatabaseSync) => void): string | undefined {
  if (!existsSync(path)) return undefined;
  let database: DatabaseSync | undefined;
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    if (!statSync(path).isFile()) return 'it is not a file.';
    database = new DatabaseSync(path, { readOnly: true });
    check(database);
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'EACCES' ? 'this user may not read and write it.' : message;
  } finally {
    database?.close();
  }
}

const CLAIM_FILE = 'running.lock';
/** SQLITE_BUSY */
const BUSY = 5;

/** Returns why a directory cannot be locked; undefined if it can be. Creates nothing. */
export function directoryLockProblem(directory: string): string | undefined {
  if (!existsSync(join(directory, CLAIM_FILE))) return undefined;
  try {
    lockDirectory(directory)();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/**
 * Locks a data directory for one gateway, until the returned function is called or the process ends. The lock is a lock of the operating
 * system on a file in the directory. Commands ignore it.
 *
 * @throws an Error for operators if another gateway holds the lock
 */
export function lockDirectory(directory: string): () => void {
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

/** Runs `work` in one transaction, which takes effect completely or not at all. A second process waits. */
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
