// The embedded store of deprecated calls: one SQLite file in the data directory.

import { inTransaction, openSqlite } from '../shared/stores/sqlite.ts';
import { firstDay, type Use, type UseStore } from './store.ts';

export const USES_FILE = 'versions.db';

/** Requests wait during this time; a failed write is retried. */
const BUSY_TIMEOUT_MS = 50;

/** Throws an Error for operators if the file cannot be opened. */
export function createSqliteUseStore(directory: string, now: () => number): UseStore {
  const database = openSqlite({
    directory,
    file: USES_FILE,
    what: 'The store of what is deprecated and used',
    busyTimeoutMs: BUSY_TIMEOUT_MS,
    prepare: (opened) =>
      opened.exec(`
        CREATE TABLE IF NOT EXISTS uses (
          day TEXT NOT NULL, organization TEXT NOT NULL, operation TEXT NOT NULL, calls INTEGER NOT NULL,
          last_at INTEGER NOT NULL, PRIMARY KEY (day, organization, operation)
        ) STRICT, WITHOUT ROWID`),
  });
  const insert = database.prepare(`
    INSERT INTO uses VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
    SET calls = calls + excluded.calls, last_at = max(last_at, excluded.last_at)`);
  const remove = database.prepare('DELETE FROM uses WHERE day < ?');
  const select = database.prepare(`
    SELECT day, organization, operation, calls, last_at FROM uses
    WHERE day >= ? AND organization = coalesce(?, organization)`);

  return {
    add(uses) {
      inTransaction(database, () => {
        for (const { day, organization, operation, calls, lastAtMs } of uses)
          insert.run(day, organization, operation, calls, lastAtMs);
        remove.run(firstDay(now()));
      });
    },
    list: (sinceDay, of) =>
      select.all(sinceDay, of?.organization ?? null).map(
        (row): Use => ({
          day: String(row.day),
          organization: String(row.organization),
          operation: String(row.operation),
          calls: Number(row.calls),
          lastAtMs: Number(row.last_at),
        }),
      ),
    close: () => database.close(),
  };
}
