// The tables of the embedded key store, version by version, and the check that a file belongs to this gateway: schema version and pepper.

import type { DatabaseSync } from 'node:sqlite';
import { applySteps, checkedVersion, type SchemaSteps } from '../../../shared/stores/sqlite-schema.ts';

/** Migrations from each version to the next. A new file runs every step, so that it equals an upgraded file. */
export const KEY_STORE_STEPS: SchemaSteps = [
  `
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
`,
  `
  ALTER TABLE keys ADD COLUMN replaced_by TEXT;
  CREATE TABLE instances (
    id TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, started_at INTEGER NOT NULL, position INTEGER NOT NULL,
    grace INTEGER NOT NULL, reported_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`,
];

/**
 * Creates the tables or upgrades them. Throws an Error for operators as `applySteps` does, or if the file was written with another pepper.
 */
export function prepareKeySchema(database: DatabaseSync, pepperFingerprint: string, acceptOneWay?: boolean): void {
  applySteps(database, KEY_STORE_STEPS, {
    acceptOneWay,
    upgrade(version, apply) {
      if (version > 0) checkPepper(database, pepperFingerprint);
      apply();
      if (version > 0) return;
      database.prepare("INSERT INTO meta VALUES ('pepper_fingerprint', ?)").run(pepperFingerprint);
    },
  });
  checkKeySchema(database, pepperFingerprint);
}

/**
 * Throws if the file is newer than this gateway or was written with another pepper, and changes nothing. Accepts an empty file.
 *
 * @param pepperFingerprint undefined if there is no pepper yet, so that any pepper in the file is a different pepper
 */
export function checkKeySchema(database: DatabaseSync, pepperFingerprint: string | undefined): void {
  if (checkedVersion(database, KEY_STORE_STEPS) > 0) checkPepper(database, pepperFingerprint);
}

function checkPepper(database: DatabaseSync, pepperFingerprint: string | undefined): void {
  const row = database.prepare("SELECT value FROM meta WHERE name = 'pepper_fingerprint'").get();
  if (pepperFingerprint !== undefined && row?.value === pepperFingerprint) return;
  throw new Error(
    'it was made with another key_pepper, so none of its keys could be recognised. Restore the key_pepper it was made with, or use another data directory.',
  );
}
