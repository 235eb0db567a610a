// The tables of the embedded store of answers, version by version.

import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '../shared/sqlite.ts';

/** Migrations from each version to the next. A new file runs every step, so that it equals an upgraded one. */
const STEPS = [
  `
  CREATE TABLE answers (
    organization TEXT NOT NULL, mode TEXT NOT NULL, digest TEXT NOT NULL, fingerprint TEXT NOT NULL, owner TEXT, record BLOB,
    expires_at INTEGER NOT NULL, UNIQUE (organization, mode, digest)
  ) STRICT;
  CREATE INDEX answers_by_end ON answers (expires_at);
`,
  // Existing answers are not counted: they expire by the end of the first span.
  `
  CREATE TABLE usage (organization TEXT PRIMARY KEY, bytes INTEGER NOT NULL, ends_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`,
  // A request that was running may have been executed: it is kept for the default retention of answers.
  `
  ALTER TABLE answers ADD COLUMN lease_ends_at INTEGER;
  ALTER TABLE answers ADD COLUMN sent_at INTEGER;
  ALTER TABLE answers ADD COLUMN upstream TEXT;
  UPDATE answers SET lease_ends_at = expires_at, expires_at = expires_at + 86400000 WHERE owner IS NOT NULL;
`,
] as const;

/** Creates the tables or upgrades them. Throws a sentence for operators if the file is newer than this gateway. */
export function prepareAnswerSchema(database: DatabaseSync): void {
  if (versionOf(database) < STEPS.length) inTransaction(database, () => upgrade(database));
  checkAnswerSchema(database);
}

/** Throws as `prepareAnswerSchema` does, and changes nothing. */
export function checkAnswerSchema(database: DatabaseSync): void {
  const version = versionOf(database);
  if (version > STEPS.length) {
    throw new Error(
      `it has schema version ${version} and this gateway knows versions up to ${STEPS.length}; run the newer gateway that wrote it.`,
    );
  }
}

/** Another process may have upgraded the file while this one waited for the lock: read the version again. */
function upgrade(database: DatabaseSync): void {
  const version = versionOf(database);
  if (version >= STEPS.length) return;
  for (const step of STEPS.slice(version)) database.exec(step);
  database.exec(`PRAGMA user_version = ${STEPS.length}`);
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.user_version);
}
