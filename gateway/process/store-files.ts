// Pure: lists the files of the data directory that contain embedded stores, and the steps that upgrade their tables.

import { ACME_FILE, ACME_STEPS } from '../acme/sqlite-acme-store.ts';
import { KEY_STORE_FILE } from '../auth/store/key-store.ts';
import { KEY_STORE_STEPS } from '../auth/store/sqlite/key-store-schema.ts';
import { REPLAY_FILE, REPLAY_STEPS } from '../replay/sqlite-schema.ts';
import { SESSIONS_FILE, SESSIONS_STEPS } from '../sessions/store/sqlite/session-schema.ts';
import type { SchemaSteps } from '../shared/stores/sqlite-schema.ts';
import { USAGE_FILE, USAGE_STEPS } from '../usage/sqlite-schema.ts';
import { USES_FILE } from '../versions/sqlite-store.ts';

/** The files whose tables have versions, each with the steps that upgrade it. */
export const VERSIONED_FILES: Readonly<Record<string, SchemaSteps>> = {
  [KEY_STORE_FILE]: KEY_STORE_STEPS,
  [REPLAY_FILE]: REPLAY_STEPS,
  [USAGE_FILE]: USAGE_STEPS,
  [ACME_FILE]: ACME_STEPS,
  [SESSIONS_FILE]: SESSIONS_STEPS,
};

/** The files of all embedded stores. */
export const STORE_FILES: readonly string[] = [...Object.keys(VERSIONED_FILES), USES_FILE];
