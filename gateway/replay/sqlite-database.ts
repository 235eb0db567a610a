// Opens the file of the embedded answers: permissions, journal, schema version.

import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const SCHEMA_VERSION = 1;
/** Writes of another process on the same file take a fraction of a millisecond; requests stand still meanwhile. */
const BUSY_TIMEOUT_MS = 100;
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS answers (
    organization TEXT NOT NULL, mode TEXT NOT NULL, digest TEXT NOT NULL, fingerprint TEXT NOT NULL, owner TEXT, record BLOB,
    expires_at INTEGER NOT NULL, UNIQUE (organization, mode, digest)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS answers_by_end ON answers (expires_at);
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** The open database; throws a sentence that names the file. */
export function openDatabase(directory: string): DatabaseSync {
  const path = join(directory, 'idempotency.db');
  let database: DatabaseSync | undefined;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
    // A file restored from a backup may be open to others, and SQLite gives its side files the mode of this one.
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
    database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    checkSchema(database);
    return database;
  } catch (cause) {
    database?.close();
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The store of answers ${path} cannot be opened: ${reason}`, { cause });
  }
}

function checkSchema(database: DatabaseSync): void {
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version);
  if (version > SCHEMA_VERSION) {
    throw new Error(
      `it has schema version ${version} and this gateway knows versions up to ${SCHEMA_VERSION}; run the newer gateway that wrote it.`,
    );
  }
  if (version < SCHEMA_VERSION) database.exec(SCHEMA);
}
