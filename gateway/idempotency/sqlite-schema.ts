// The tables of the embedded answers, version by version.

import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '../sqlite.ts';

/** What leads from one version to the next: a new file takes every step, so that it is the same as one that grew. */
const STEPS = [
  `
  CREATE TABLE answers (
    organization TEXT NOT NULL, mode TEXT NOT NULL, digest TEXT NOT NULL, fingerprint TEXT NOT NULL, owner TEXT, record BLOB,
    expires_at INTEGER NOT NULL, UNIQUE (organization, mode, digest)
  ) STRICT;
  CREATE INDEX answers_by_end ON answers (expires_at);
`,
  // Answers that were there before are not counted: they are over by the end of the first span.
  `
  CREATE TABLE usage (organization TEXT PRIMARY KEY, bytes INTEGER NOT NULL, ends_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`,
  // What was running may have been executed: it is remembered for the time that answers are kept by default.
  `
  ALTER TABLE answers ADD COLUMN lease_ends_at INTEGER;
  ALTER TABLE answers ADD COLUMN sent_at INTEGER;
  ALTER TABLE answers ADD COLUMN upstream TEXT;
  UPDATE answers SET lease_ends_at = expires_at, expires_at = expires_at + 86400000 WHERE owner IS NOT NULL;
`,
] as const;

/** Makes the tables or brings them up to date. Throws a sentence for people if the file is newer than this gateway. */
export function prepareAnswerSchema(database: DatabaseSync): void {
  if (versionOf(database) < STEPS.length) inTransaction(database, () => upgrade(database));
  const version = versionOf(database);
  if (version > STEPS.length) {
    throw new Error(
      `it has schema version ${version} and this gateway knows versions up to ${STEPS.length}; run the newer gateway that wrote it.`,
    );
  }
}

/** Another process may have been first while this one waited for its turn: the version is read again. */
function upgrade(database: DatabaseSync): void {
  const version = versionOf(database);
  if (version >= STEPS.length) return;
  for (const step of STEPS.slice(version)) database.exec(step);
  database.exec(`PRAGMA user_version = ${STEPS.length}`);
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version);
}
