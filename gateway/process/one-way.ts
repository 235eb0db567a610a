// Finds the stores in the data directory that a start would upgrade to a schema that earlier gateways cannot open. A start reports them
// before it changes any file, and needs the consent of the operator.

import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Settings } from '../config/settings.ts';
import { shownPath } from '../shared/file-text.ts';
import type { Mistake } from '../shared/mistakes.ts';
import { sqliteProblem } from '../shared/stores/sqlite.ts';
import { ACCEPT, oneWayReason } from '../shared/stores/sqlite-schema.ts';
import { VERSIONED_FILES } from './store-files.ts';

/**
 * Returns one mistake for each file whose upgrade must be accepted. Returns none with Redis, because the gateway then does not open these
 * files.
 */
export function oneWayUpgrades({ redisUrl, dataDirectory }: Pick<Settings, 'redisUrl' | 'dataDirectory'>): Mistake[] {
  if (redisUrl !== undefined) return [];
  return Object.entries(VERSIONED_FILES).flatMap(([file, steps]) => {
    const path = join(dataDirectory, file);
    let reason: string | undefined;
    // A file that cannot be read is refused when it is opened.
    sqliteProblem(path, (database: DatabaseSync) => {
      reason = oneWayReason(database, steps);
    });
    return reason === undefined ? [] : [{ file: shownPath(path), reason, remedy: ACCEPT }];
  });
}
