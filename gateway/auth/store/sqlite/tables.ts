// The open database of the embedded key store, which its parts share. Contains writes that do not wait for other writers, conditions of a
// change, and the reading of tables page by page.

import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { inTransaction } from '../../../shared/stores/sqlite.ts';
import { ConditionFailed, type Conditions } from '../key-store.ts';
import type { WriteChange } from './audit.ts';
import type { KeyRows, OrganizationRows } from './rows.ts';

export interface SqliteTables {
  readonly database: DatabaseSync;
  readonly organizations: OrganizationRows;
  readonly keys: KeyRows;
  readonly writeChange: WriteChange;
  now(): number;
}

export const BUSY_TIMEOUT_MS = 5000;

/** Throws at once if another process is writing, because a process that serves requests must not block. */
export function inTransactionWithoutWaiting<T>(database: DatabaseSync, work: () => T): T {
  database.exec('PRAGMA busy_timeout = 0');
  try {
    return inTransaction(database, work);
  } finally {
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  }
}

type Row = Record<string, SQLOutputValue>;

const PAGE = 1000;

/**
 * Reads a whole table page by page, with no statement left open in between.
 *
 * @param select the rows behind a position, in order, at most `limit`. Never yields an empty page.
 */
export async function* inSqlitePages<T, P extends string | number>(
  select: (position: P, limit: number) => readonly Row[],
  before: P,
  positionOf: (row: Row) => P,
  recordOf: (row: Row) => T,
): AsyncGenerator<readonly T[]> {
  for (let position = before; ; ) {
    const rows = select(position, PAGE);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(recordOf);
    // A page that is not full is the last page, because rows written during the scan must not make the scan endless.
    if (rows.length < PAGE) return;
    position = positionOf(last);
  }
}

/** Checks the conditions of a change, inside its transaction. Throws ConditionFailed if a record has changed since it was read. */
export function requireUnchanged(
  { keys, organizations }: { readonly keys: KeyRows; readonly organizations: OrganizationRows },
  conditions: Conditions,
): void {
  for (const known of conditions.keys ?? []) {
    const lastUsedAtMs = undefined;
    const present = keys.read(known.id);
    if (present === undefined || !isDeepStrictEqual({ ...present, lastUsedAtMs }, { ...known, lastUsedAtMs }))
      throw new ConditionFailed('keys');
  }
  for (const known of conditions.organizations ?? [])
    if (!isDeepStrictEqual(organizations.read(known.id), known)) throw new ConditionFailed('organizations');
}
