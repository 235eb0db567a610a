// The tables of the embedded replay store, version by version.

import type { SchemaSteps } from '../shared/stores/sqlite-schema.ts';

/** The name of the file in the data directory. */
export const REPLAY_FILE = 'idempotency.db';

/** Migrations from each version to the next. A new file runs every step, so that it equals an upgraded file. */
export const REPLAY_STEPS: SchemaSteps = [
  `
  CREATE TABLE answers (
    organization TEXT NOT NULL, mode TEXT NOT NULL, digest TEXT NOT NULL, fingerprint TEXT NOT NULL, owner TEXT, record BLOB,
    expires_at INTEGER NOT NULL, UNIQUE (organization, mode, digest)
  ) STRICT;
  CREATE INDEX answers_by_end ON answers (expires_at);
`,
  // Existing answers are not counted, because they expire by the end of the first span.
  `
  CREATE TABLE usage (organization TEXT PRIMARY KEY, bytes INTEGER NOT NULL, ends_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`,
  // A request that was running may have been executed, so it is kept for the default retention of answers.
  `
  ALTER TABLE answers ADD COLUMN lease_ends_at INTEGER;
  ALTER TABLE answers ADD COLUMN sent_at INTEGER;
  ALTER TABLE answers ADD COLUMN upstream TEXT;
  UPDATE answers SET lease_ends_at = expires_at, expires_at = expires_at + 86400000 WHERE owner IS NOT NULL;
`,
];
