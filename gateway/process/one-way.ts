// The upgrades of stores in the data directory that no earlier gateway could open afterwards. They are found before anything is changed.

import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { ACME_FILE, ACME_STEPS } from '../acme/sqlite-acme-store.ts';
import { KEY_STORE_FILE } from '../auth/store/key-store.ts';
import { KEY_STORE_STEPS } from '../auth/store/sqlite/key-store-schema.ts';
import type { Settings } from '../config/settings.ts';
import { REPLAY_FILE, REPLAY_STEPS } from '../replay/sqlite-schema.ts';
import { SESSIONS_FILE, SESSIONS_STEPS } from '../sessions/store/sqlite/session-schema.ts';
import { shownPath } from '../shared/file-text.ts';
import type { Mistake } from '../shared/mistakes.ts';
import { sqliteProblem } from '../shared/stores/sqlite.ts';
import { ACCEPT, oneWayReason, type SchemaSteps } from '../shared/stores/sqlite-schema.ts';
import { USAGE_FILE, USAGE_STEPS } from '../usage/sqlite-schema.ts';
import { USES_FILE } from '../versions/sqlite-store.ts';

/** Every file of the data directory that has a schema version. */
export const versionedFiles: Readonly<Record<string, SchemaSteps>> = {
  [KEY_STORE_FILE]: KEY_STORE_STEPS,
  [REPLAY_FILE]: REPLAY_STEPS,
  [USAGE_FILE]: USAGE_STEPS,
  [ACME_FILE]: ACME_STEPS,
  [SESSIONS_FILE]: SESSIONS_STEPS,
};

/** Every embedded store in the data directory. */
export const storeFiles: readonly string[] = [...Object.keys(versionedFiles), USES_FILE];

/** Returns one mistake for each file whose upgrade has to be accepted. With Redis, a gateway opens none of them. */
export function oneWayUpgrades({ redisUrl, dataDirectory }: Pick<Settings, 'redisUrl' | 'dataDirectory'>): Mistake[] {
  if (redisUrl !== undefined) return [];
  return Object.entries(versionedFiles).flatMap(([file, steps]) => {
    const path = join(dataDirectory, file);
    let reason: string | undefined;
    // A file that cannot be read is refused when it is opened.
    sqliteProblem(path, (database: DatabaseSync) => {
      reason = oneWayReason(database, steps);
    });
    return reason === undefined ? [] : [{ file: shownPath(path), reason, remedy: ACCEPT }];
  });
}
