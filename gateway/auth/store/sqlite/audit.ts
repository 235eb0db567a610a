// The audit log of the embedded key store, and the change stream read from it.

import type { DatabaseSync } from 'node:sqlite';
import { authorNameOf, detailsBy } from '../change-details.ts';
import type { AuditLog, KeyStoreChange } from '../key-store.ts';

type NewChange = Pick<KeyStoreChange, 'by' | 'kind'> &
  Partial<Pick<KeyStoreChange, 'organization' | 'key' | 'details'>>;
/** Writes one audit row; call it inside the transaction of the change. */
export type WriteChange = (change: NewChange) => void;

/** The columns of a change, by the names of its members. */
const COLUMNS = 'sequence, at AS atMs, by, kind, organization, key, details';

export function createWriteChange(database: DatabaseSync, now: () => number): WriteChange {
  const insert = database.prepare(
    'INSERT INTO changes (at, by, kind, organization, key, details) VALUES (?, ?, ?, ?, ?, ?)',
  );
  return function writeChange({ by, kind, organization, key, details }) {
    insert.run(now(), by, kind, organization ?? null, key ?? null, JSON.stringify(details ?? {}));
  };
}

export function createSqliteAudit(database: DatabaseSync, writeChange: WriteChange): AuditLog {
  const selectLatest = database.prepare('SELECT max(sequence) AS latest FROM changes');
  const selectSince = database.prepare(`SELECT ${COLUMNS} FROM changes WHERE sequence > ? ORDER BY sequence LIMIT ?`);
  const selectNewest = database.prepare(
    `SELECT ${COLUMNS} FROM changes WHERE at >= ? AND sequence < ? ORDER BY sequence DESC LIMIT ?`,
  );
  const selectNewestOf = database.prepare(
    `SELECT ${COLUMNS} FROM changes WHERE organization = ? AND at >= ? AND sequence < ? ORDER BY sequence DESC LIMIT ?`,
  );
  return {
    list({ organization, sinceMs = 0, before = Number.MAX_SAFE_INTEGER, limit }) {
      const rows =
        organization === undefined
          ? selectNewest.all(sinceMs, before, limit)
          : selectNewestOf.all(organization, sinceMs, before, limit);
      return changesOf(rows);
    },
    append(kind, author, details, organization) {
      writeChange({ by: authorNameOf(author), kind, organization, details: detailsBy(author, details) });
    },
    since(sequence, limit) {
      const changes = changesOf(selectSince.all(sequence, limit));
      return { latest: Number(selectLatest.get()?.latest ?? 0), changes };
    },
    // SQLite does not notify other processes of a write; reading `since` is cheap enough to poll instead.
    subscribe: () => () => {},
  };
}

function changesOf(rows: readonly Record<string, unknown>[]): KeyStoreChange[] {
  return rows.map(({ organization, key, details, ...change }) => ({
    ...(change as Pick<KeyStoreChange, 'sequence' | 'atMs' | 'by' | 'kind'>),
    organization: (organization as string | null) ?? undefined,
    key: (key as string | null) ?? undefined,
    details: JSON.parse(details as string),
  }));
}
