// The tables of the embedded session store, version by version.

import type { SchemaSteps } from '../../../shared/stores/sqlite-schema.ts';

/** The name of the file in the data directory. */
export const SESSIONS_FILE = 'sessions.db';

/**
 * Migrations from each version to the next. `person` and `sid` are digests. `logouts` contains the logouts by providers, for logins in
 * progress, and the logout tokens that were seen. `sent_at` is the time at which a refresh token may have been sent first, and `sender` the
 * list of senders (sessions/store/senders.ts). In the first version, each owner of a lease may have sent the token.
 */
export const SESSIONS_STEPS: SchemaSteps = [
  `
  CREATE TABLE sessions (
    hash TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, fixed TEXT NOT NULL, organization TEXT NOT NULL, person TEXT NOT NULL, sid TEXT,
    created_at INTEGER NOT NULL, ends_at INTEGER NOT NULL, idle INTEGER NOT NULL, used_at INTEGER NOT NULL,
    access_ends_at INTEGER NOT NULL, access_lives INTEGER NOT NULL, refreshable INTEGER NOT NULL, generation INTEGER NOT NULL,
    tokens TEXT NOT NULL, owner TEXT, lease_ends_at INTEGER NOT NULL DEFAULT 0, fence INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sessions_by_organization ON sessions (organization, created_at, id);
  CREATE INDEX sessions_by_person ON sessions (person, created_at, id);
  CREATE INDEX sessions_by_sid ON sessions (sid) WHERE sid IS NOT NULL;
  CREATE INDEX sessions_by_end ON sessions (min(ends_at, used_at + idle));
  CREATE TABLE logouts (name TEXT PRIMARY KEY, at INTEGER NOT NULL, kept_until INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX logouts_by_end ON logouts (kept_until);
  CREATE TABLE ends (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, id TEXT NOT NULL, hash TEXT NOT NULL, reason TEXT NOT NULL
  ) STRICT;
`,
  `
  ALTER TABLE sessions ADD COLUMN sent_at INTEGER;
  ALTER TABLE sessions ADD COLUMN sender TEXT;
  UPDATE sessions SET sent_at = lease_ends_at, sender = owner WHERE owner IS NOT NULL;
`,
];
