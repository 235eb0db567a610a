// Keys in the embedded key store.

import { inTransaction } from '../../../shared/sqlite.ts';
import type { KeyRecords, StoredKey } from '../key-store.ts';
import { inSqlitePages } from './pages.ts';
import { keyOf } from './rows.ts';
import { inTransactionWithoutWaiting, type SqliteTables } from './tables.ts';

export function createSqliteKeys({ database, organizations, keys, writeChange, now }: SqliteTables): KeyRecords {
  const selectByDigest = database.prepare('SELECT * FROM keys WHERE digest = ?');
  const selectAll = database.prepare('SELECT rowid, * FROM keys WHERE rowid > ? ORDER BY rowid LIMIT ?');
  const selectOf = database.prepare(
    'SELECT rowid, * FROM keys WHERE organization = ? AND rowid > ? ORDER BY rowid LIMIT ?',
  );
  const selectRow = database.prepare(
    'SELECT rowid FROM keys WHERE id = ? AND organization = coalesce(?, organization)',
  );
  const updateRevoked = database.prepare(
    'UPDATE keys SET revoked_at = ?, revoked_by = ?, revoked_reason = ? WHERE id = ?',
  );
  const updateReplaced = database.prepare('UPDATE keys SET expires_at = ?, replaced_by = ? WHERE id = ?');
  const updateUsed = database.prepare(
    'UPDATE keys SET last_used_at = ? WHERE id = ? AND coalesce(last_used_at, 0) < ?',
  );
  const selectBehind = (organization: string | undefined) => (position: number, limit: number) =>
    organization === undefined ? selectAll.all(position, limit) : selectOf.all(organization, position, limit);

  return {
    create(key) {
      return inTransaction(database, () => {
        const { id, organization, mode, name, scopes, expiresAtMs, createdBy } = key;
        if (organizations.read(organization) === undefined) return false;
        keys.insertNew(key);
        const details = { mode, name, scopes, expires_at: expiresAtMs ?? null };
        writeChange({ by: createdBy, kind: 'key.created', organization, key: id, details });
        return true;
      });
    },
    get: keys.read,
    findByDigest(digest) {
      const row = selectByDigest.get(digest);
      if (row === undefined) return undefined;
      const key = keyOf(row);
      const organization = organizations.read(key.organization);
      return organization === undefined ? undefined : { key, organization };
    },
    list: ({ organization } = {}) => selectBehind(organization)(0, -1).map(keyOf),
    scan({ organization, after } = {}) {
      const row = after === undefined ? { rowid: 0 } : selectRow.get(after, organization ?? null);
      const before = Number(row?.rowid ?? Number.MAX_SAFE_INTEGER);
      return inSqlitePages(selectBehind(organization), before, ({ rowid }) => Number(rowid), keyOf);
    },
    revoke(id, by, reason) {
      return inTransaction(database, () => {
        const before = keys.read(id);
        if (before === undefined || before.revokedAtMs !== undefined) return before;
        const revokedAtMs = now();
        updateRevoked.run(revokedAtMs, by, reason ?? null, id);
        const { organization } = before;
        writeChange({ by, kind: 'key.revoked', organization, key: id, details: { reason: reason ?? null } });
        return { ...before, revokedAtMs, revokedBy: by, revokedReason: reason };
      });
    },
    rotate(id, successor, endsAtMs) {
      return inTransaction(database, () => {
        const before = keys.read(id);
        if (before === undefined || !isActive(before, now())) return undefined;
        keys.insertNew(successor);
        const expiresAtMs = Math.min(endsAtMs, before.expiresAtMs ?? Number.POSITIVE_INFINITY);
        updateReplaced.run(expiresAtMs, successor.id, id);
        const { organization } = before;
        const details = { successor: successor.id, ends_at: expiresAtMs };
        writeChange({ by: successor.createdBy, kind: 'key.rotated', organization, key: id, details });
        return { ...before, expiresAtMs, replacedBy: successor.id };
      });
    },
    noteUses(uses) {
      inTransactionWithoutWaiting(database, () => {
        for (const [id, usedAtMs] of uses) updateUsed.run(usedAtMs, id, usedAtMs);
      });
    },
  };
}

function isActive({ revokedAtMs, expiresAtMs, replacedBy }: StoredKey, nowMs: number): boolean {
  return revokedAtMs === undefined && replacedBy === undefined && (expiresAtMs === undefined || expiresAtMs > nowMs);
}
