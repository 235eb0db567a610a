// The one table of the embedded answers.

import type { DatabaseSync } from 'node:sqlite';

const SCHEMA_VERSION = 1;
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS answers (
    organization TEXT NOT NULL, mode TEXT NOT NULL, digest TEXT NOT NULL, fingerprint TEXT NOT NULL, owner TEXT, record BLOB,
    expires_at INTEGER NOT NULL, UNIQUE (organization, mode, digest)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS answers_by_end ON answers (expires_at);
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** Throws a sentence for people if the file is newer than this gateway. */
export function prepareSchema(database: DatabaseSync): void {
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version);
  if (version > SCHEMA_VERSION) {
    throw new Error(
      `it has schema version ${version} and this gateway knows versions up to ${SCHEMA_VERSION}; run the newer gateway that wrote it.`,
    );
  }
  if (version < SCHEMA_VERSION) database.exec(SCHEMA);
}
