// Opens the embedded key store's file: permissions, journal, schema.

import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { prepareSchema } from './sqlite-schema.ts';
import { BUSY_TIMEOUT_MS } from './sqlite-transaction.ts';

/** The open database; throws a sentence that names the file and what to do. */
export function openDatabase(directory: string, pepperFingerprint: string): DatabaseSync {
  const path = join(directory, 'gateway.db');
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
    // A file restored from a backup may be open to others, and SQLite gives its side files the mode of this one.
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
    database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    prepareSchema(database, pepperFingerprint);
    return database;
  } catch (cause) {
    database?.close();
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The key store ${path} cannot be opened: ${reason}`, { cause });
  }
}
