// Keys in the embedded key store.

import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '../../../shared/stores/sqlite.ts';
import { authorNameOf, detailsBy, ofChangedKey, ofNewKey, ofRevokedKey, ofRotatedKey } from '../change-details.ts';
import { ConditionFailed, type Conditions, type KeyRecords } from '../key-store.ts';
import { hasExpired, isRotatable, type StoredKey } from '../stored-key.ts';
import { keyOf } from './rows.ts';
import { inSqlitePages, inTransactionWithoutWaiting, requireUnchanged, type SqliteTables } from './tables.ts';

type Reads = Pick<KeyRecords, 'get' | 'findByDigest' | 'list' | 'scan'>;
type Additions = Pick<KeyRecords, 'create' | 'rotate'>;

export function createSqliteKeys(tables: SqliteTables): KeyRecords {
  const statements = prepareStatements(tables.database);
  return {
    ...createReads(tables, statements),
    ...createAdditions(tables, statements),
    ...createChanges(tables, statements),
  };
}

function createReads({ organizations, keys }: SqliteTables, statements: Statements): Reads {
  const { selectByDigest, selectRow } = statements;
  return {
    get: keys.read,
    findByDigest(digest) {
      const row = selectByDigest.get(digest);
      if (row === undefined) return undefined;
      const key = keyOf(row);
      const organization = organizations.read(key.organization);
      return organization === undefined ? undefined : { key, organization };
    },
    list: ({ organization } = {}) => selectBehind(statements, organization)(0, -1).map(keyOf),
    scan({ organization, after } = {}) {
      const row = after === undefined ? { rowid: 0 } : selectRow.get(after, organization ?? null);
      const before = Number(row?.rowid ?? Number.MAX_SAFE_INTEGER);
      return inSqlitePages(selectBehind(statements, organization), before, ({ rowid }) => Number(rowid), keyOf);
    },
  };
}

/** Returns the methods that add a key. */
function createAdditions(tables: SqliteTables, statements: Statements): Additions {
  const { database, organizations, keys, writeChange, now } = tables;
  return {
    create(key, author = key.createdBy, conditions = {}) {
      return inTransaction(database, () => {
        requireUnchanged(tables, conditions);
        const { id, organization } = key;
        if (organizations.read(organization) === undefined) return false;
        keys.insertNew(key);
        requireRoom(statements, key, conditions, now());
        const details = detailsBy(author, ofNewKey(key));
        writeChange({ by: authorNameOf(author), kind: 'key.created', organization, key: id, details });
        return true;
      });
    },
    rotate(id, successor, endsAtMs, author = successor.createdBy, conditions = {}) {
      return inTransaction(database, () => {
        requireUnchanged(tables, conditions);
        const before = keys.read(id);
        if (before === undefined || !isRotatable(before, now())) return undefined;
        keys.insertNew(successor);
        const expiresAtMs = Math.min(endsAtMs, before.expiresAtMs ?? Number.POSITIVE_INFINITY);
        statements.updateReplaced.run(expiresAtMs, successor.id, id);
        requireRoom(statements, successor, conditions, now());
        const after = { ...before, expiresAtMs, replacedBy: successor.id };
        const { organization } = before;
        const details = detailsBy(author, ofRotatedKey(before, after));
        writeChange({ by: authorNameOf(author), kind: 'key.rotated', organization, key: id, details });
        return after;
      });
    },
  };
}

/** Returns the methods that change keys and add none. */
function createChanges(tables: SqliteTables, statements: Statements): Omit<KeyRecords, keyof Reads | keyof Additions> {
  const { database, keys, writeChange, now } = tables;
  const { updateMembers, updateRevoked, updateUsed } = statements;
  return {
    change(id, patch, author, conditions = {}) {
      return inTransaction(database, () => {
        requireUnchanged(tables, conditions);
        const before = keys.read(id);
        if (before === undefined) return undefined;
        const after = { ...before, ...patch };
        const details = ofChangedKey(before, after);
        if (details === undefined) return before;
        const { organization, name, scopes, allowedCidrs, expiresAtMs } = after;
        updateMembers.run(name, JSON.stringify(scopes), JSON.stringify(allowedCidrs), expiresAtMs ?? null, id);
        const by = authorNameOf(author);
        writeChange({ by, kind: 'key.changed', organization, key: id, details: detailsBy(author, details) });
        return after;
      });
    },
    revoke(id, author, reason, conditions = {}) {
      return inTransaction(database, () => {
        requireUnchanged(tables, conditions);
        const before = keys.read(id);
        if (before === undefined || before.revokedAtMs !== undefined) return before;
        const revokedAtMs = now();
        requireAnother(statements, before, revokedAtMs, conditions);
        const by = authorNameOf(author);
        updateRevoked.run(revokedAtMs, by, reason ?? null, id);
        const { organization } = before;
        const details = detailsBy(author, ofRevokedKey(reason, hasExpired(before, revokedAtMs)));
        writeChange({ by, kind: 'key.revoked', organization, key: id, details });
        return { ...before, revokedAtMs, revokedBy: by, revokedReason: reason };
      });
    },
    noteUses(uses) {
      inTransactionWithoutWaiting(database, () => {
        for (const [id, usedAtMs] of uses) updateUsed.run(usedAtMs, id, usedAtMs);
      });
    },
  };
}

type Statements = ReturnType<typeof prepareStatements>;

function prepareStatements(database: DatabaseSync) {
  return {
    selectByDigest: database.prepare('SELECT * FROM keys WHERE digest = ?'),
    selectAll: database.prepare('SELECT rowid, * FROM keys WHERE rowid > ? ORDER BY rowid LIMIT ?'),
    selectOf: database.prepare('SELECT rowid, * FROM keys WHERE organization = ? AND rowid > ? ORDER BY rowid LIMIT ?'),
    selectRow: database.prepare('SELECT rowid FROM keys WHERE id = ? AND organization = coalesce(?, organization)'),
    selectAnother: database.prepare(`
      SELECT 1 FROM keys
      WHERE organization = ? AND id <> ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?) AND (mode = 'live' OR ? = 'test')
      LIMIT 1
    `),
    countRecords: database.prepare('SELECT count(*) AS count FROM keys WHERE organization = ?'),
    countWorking: database.prepare(`
      SELECT count(*) AS count FROM keys
      WHERE organization = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)
    `),
    updateMembers: database.prepare(
      'UPDATE keys SET name = ?, scopes = ?, allowed_cidrs = ?, expires_at = ? WHERE id = ?',
    ),
    updateRevoked: database.prepare('UPDATE keys SET revoked_at = ?, revoked_by = ?, revoked_reason = ? WHERE id = ?'),
    updateReplaced: database.prepare('UPDATE keys SET expires_at = ?, replaced_by = ? WHERE id = ?'),
    updateUsed: database.prepare('UPDATE keys SET last_used_at = ? WHERE id = ? AND coalesce(last_used_at, 0) < ?'),
  };
}

/** Returns the function that reads rows behind a position: the rows of one organization, or of all. */
function selectBehind({ selectAll, selectOf }: Statements, organization: string | undefined) {
  return (position: number, limit: number) =>
    organization === undefined ? selectAll.all(position, limit) : selectOf.all(organization, position, limit);
}

function requireAnother(
  { selectAnother }: Statements,
  key: StoredKey,
  nowMs: number,
  { leavesAnother = false }: Conditions,
): void {
  const { id, organization, mode } = key;
  if (!leavesAnother || hasExpired(key, nowMs)) return;
  if (selectAnother.get(organization, id, nowMs, mode) === undefined) throw new ConditionFailed('leavesAnother');
}

/** Throws if the organization now has too many keys. Call it within the transaction, after the creation or rotation. */
function requireRoom(
  { countRecords, countWorking }: Statements,
  { organization }: StoredKey,
  { most }: Conditions,
  nowMs: number,
): void {
  if (most === undefined) return;
  const records = Number(countRecords.get(organization)?.count);
  const working = records <= most.working ? records : Number(countWorking.get(organization, nowMs)?.count);
  if (records > most.records || working > most.working) throw new ConditionFailed('most');
}
