// The upgrades of stores in the data directory that no earlier gateway could open afterwards. They are found before anything is changed.

import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Settings } from '../config/settings.ts';
import { shownPath } from '../shared/file-text.ts';
import type { Mistake } from '../shared/mistakes.ts';
import { sqliteProblem } from '../shared/stores/sqlite.ts';
import { ACCEPT, oneWayReason } from '../shared/stores/sqlite-schema.ts';
import { versionedFiles } from './store-files.ts';

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
