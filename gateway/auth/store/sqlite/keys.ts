// Keys in the embedded key store.

import { inTransaction } from '../../../shared/sqlite.ts';
import type { KeyRecords, StoredKey } from '../key-store.ts';
import { createRevoke, createRotate, type KeyChangeOptions } from './key-changes.ts';
import { insertNewKey, keyOf } from './key-rows.ts';
import type { ReadOrganization } from './organizations.ts';
import { inSqlitePages } from './pages.ts';
import { inTransactionWithoutWaiting } from './transaction.ts';

export interface SqliteKeysOptions extends KeyChangeOptions {
  readonly readOrganization: ReadOrganization;
}

export function createSqliteKeys(options: SqliteKeysOptions): KeyRecords {
  const { database, insertKey, readKey, readOrganization, writeChange } = options;
  const selectByDigest = database.prepare('SELECT * FROM keys WHERE digest = ?');
  const selectAll = database.prepare('SELECT * FROM keys ORDER BY rowid');
  const selectPage = database.prepare('SELECT rowid, * FROM keys WHERE rowid > ? ORDER BY rowid LIMIT ?');
  const selectOf = database.prepare('SELECT * FROM keys WHERE organization = ? ORDER BY rowid');
  const selectPageOf = database.prepare(
    'SELECT rowid, * FROM keys WHERE organization = ? AND rowid > ? ORDER BY rowid LIMIT ?',
  );
  const selectRow = database.prepare(
    'SELECT rowid FROM keys WHERE id = ? AND organization = coalesce(?, organization)',
  );
  const updateUsed = database.prepare(
    'UPDATE keys SET last_used_at = ? WHERE id = ? AND coalesce(last_used_at, 0) < ?',
  );

  return {
    create(key) {
      return inTransaction(database, () => {
        if (readOrganization(key.organization) === undefined) return false;
        insertNewKey(insertKey, key);
        writeChange({ ...creationOf(key), by: key.createdBy });
        return true;
      });
    },
    get: readKey,
    findByDigest(digest) {
      const row = selectByDigest.get(digest);
      if (row === undefined) return undefined;
      const key = keyOf(row);
      const organization = readOrganization(key.organization);
      return organization === undefined ? undefined : { key, organization };
    },
    list({ organization } = {}) {
      return (organization === undefined ? selectAll.all() : selectOf.all(organization)).map(keyOf);
    },
    scan({ organization, after } = {}) {
      const row = after === undefined ? { rowid: 0 } : selectRow.get(after, organization ?? null);
      const select = (position: number, limit: number) =>
        organization === undefined ? selectPage.all(position, limit) : selectPageOf.all(organization, position, limit);
      return inSqlitePages(select, Number(row?.rowid ?? Number.MAX_SAFE_INTEGER), ({ rowid }) => Number(rowid), keyOf);
    },
    revoke: createRevoke(options),
    rotate: createRotate(options),
    noteUses(uses) {
      inTransactionWithoutWaiting(database, () => {
        for (const [id, usedAtMs] of uses) updateUsed.run(usedAtMs, id, usedAtMs);
      });
    },
  };
}

function creationOf({ id, organization, mode, name, scopes, expiresAtMs }: StoredKey) {
  const details = { mode, name, scopes, expires_at: expiresAtMs ?? null };
  return { kind: 'key.created', organization, key: id, details } as const;
}
