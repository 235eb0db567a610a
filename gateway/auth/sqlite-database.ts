// Opens the embedded key store's file: permissions, journal, schema version, and whether it was made with this pepper.

import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const SCHEMA_VERSION = 1;
const BUSY_TIMEOUT_MS = 5000;
const SCHEMA = `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE organizations (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, tier TEXT NOT NULL, state TEXT NOT NULL, contacts TEXT NOT NULL,
    operator INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE keys (
    id TEXT PRIMARY KEY, digest TEXT NOT NULL UNIQUE, organization TEXT NOT NULL REFERENCES organizations (id),
    mode TEXT NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL, allowed_cidrs TEXT NOT NULL, prefix TEXT NOT NULL,
    last_four TEXT NOT NULL, created_at INTEGER NOT NULL, created_by TEXT NOT NULL, expires_at INTEGER,
    revoked_at INTEGER, revoked_by TEXT, revoked_reason TEXT, last_used_at INTEGER
  ) STRICT;
  CREATE INDEX keys_by_organization ON keys (organization);
  CREATE TABLE changes (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, by TEXT NOT NULL, kind TEXT NOT NULL,
    organization TEXT, key TEXT, details TEXT NOT NULL
  ) STRICT;
  CREATE INDEX changes_by_organization ON changes (organization) WHERE organization IS NOT NULL;
`;

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
    checkSchema(database, pepperFingerprint);
    return database;
  } catch (cause) {
    database?.close();
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The key store ${path} cannot be opened: ${reason}`, { cause });
  }
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

/** The same, but if another process is writing it throws at once: a serving process must not stand still for it. */
export function inTransactionWithoutWaiting<T>(database: DatabaseSync, work: () => T): T {
  database.exec('PRAGMA busy_timeout = 0');
  try {
    return inTransaction(database, work);
  } finally {
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  }
}

function checkSchema(database: DatabaseSync, pepperFingerprint: string): void {
  if (versionOf(database) === 0) createSchema(database, pepperFingerprint);
  const version = versionOf(database);
  if (version > SCHEMA_VERSION) {
    throw new Error(
      `it has schema version ${version} and this gateway knows versions up to ${SCHEMA_VERSION}; run the newer gateway that wrote it.`,
    );
  }
  const row = database.prepare("SELECT value FROM meta WHERE name = 'pepper_fingerprint'").get();
  if (row?.value !== pepperFingerprint) {
    throw new Error(
      'it was made with another key_pepper, so none of its keys could be recognised. Restore the key_pepper it was made with, or use another data directory.',
    );
  }
}

function createSchema(database: DatabaseSync, pepperFingerprint: string): void {
  inTransaction(database, () => {
    // Another process may have been first while this one waited.
    if (versionOf(database) !== 0) return;
    database.exec(SCHEMA);
    database.prepare("INSERT INTO meta VALUES ('pepper_fingerprint', ?)").run(pepperFingerprint);
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  });
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version);
}
