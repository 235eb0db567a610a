// The tables of the embedded usage store, version by version.

import type { SchemaSteps } from '../shared/stores/sqlite-schema.ts';

/** The name of the file in the data directory. */
export const USAGE_FILE = 'usage.sqlite';

/** Migrations from each version to the next. A new file runs every step, so that it equals an upgraded file. */
export const USAGE_STEPS: SchemaSteps = [
  `
  CREATE TABLE counts (
    organization TEXT NOT NULL, unit TEXT NOT NULL, period INTEGER NOT NULL, operation TEXT NOT NULL, key TEXT NOT NULL,
    class INTEGER NOT NULL, requests INTEGER NOT NULL, PRIMARY KEY (organization, unit, period, operation, key, class)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE spans (
    organization TEXT NOT NULL, unit TEXT NOT NULL, starts_at INTEGER NOT NULL, ends_at INTEGER NOT NULL, details INTEGER NOT NULL,
    PRIMARY KEY (organization, unit, starts_at)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX spans_by_end ON spans (ends_at);
  CREATE TABLE written (
    writer TEXT NOT NULL, organization TEXT NOT NULL, number INTEGER NOT NULL, written_at INTEGER NOT NULL,
    PRIMARY KEY (writer, organization)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE marks (writer TEXT PRIMARY KEY, complete_until INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`,
];
