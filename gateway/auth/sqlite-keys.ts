// Keys in the embedded key store.

import type { DatabaseSync } from 'node:sqlite';
import type { Mode } from '../exchange.ts';
import type { WriteChange } from './sqlite-audit.ts';
import { inTransaction, inTransactionWithoutWaiting } from './sqlite-database.ts';
import type { ReadOrganization } from './sqlite-organizations.ts';
import type { KeyRecords, StoredKey } from './store.ts';

interface KeyRow {
  readonly id: string;
  readonly digest: string;
  readonly organization: string;
  readonly mode: Mode;
  readonly name: string;
  readonly scopes: string;
  readonly allowed_cidrs: string;
  readonly prefix: string;
  readonly last_four: string;
  readonly created_at: number;
  readonly created_by: string;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly revoked_by: string | null;
  readonly revoked_reason: string | null;
  readonly last_used_at: number | null;
}

export type InsertKey = (key: StoredKey) => void;

export function createInsertKey(database: DatabaseSync): InsertKey {
  const insert = database.prepare('INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  return function insertKey(key) {
    insert.run(
      key.id,
      key.digest,
      key.organization,
      key.mode,
      key.name,
      JSON.stringify(key.scopes),
      JSON.stringify(key.allowedCidrs),
      key.prefix,
      key.lastFour,
      key.createdAtMs,
      key.createdBy,
      key.expiresAtMs ?? null,
      key.revokedAtMs ?? null,
      key.revokedBy ?? null,
      key.revokedReason ?? null,
      key.lastUsedAtMs ?? null,
    );
  };
}

export function createSqliteKeys(
  database: DatabaseSync,
  insertKey: InsertKey,
  readOrganization: ReadOrganization,
  writeChange: WriteChange,
  now: () => number,
): KeyRecords {
  const selectById = database.prepare('SELECT * FROM keys WHERE id = ?');
  const selectByDigest = database.prepare('SELECT * FROM keys WHERE digest = ?');
  const selectAll = database.prepare('SELECT * FROM keys ORDER BY rowid');
  const selectOf = database.prepare('SELECT * FROM keys WHERE organization = ? ORDER BY rowid');
  const updateUsed = database.prepare(
    'UPDATE keys SET last_used_at = ? WHERE id = ? AND coalesce(last_used_at, 0) < ?',
  );

  function read(id: string): StoredKey | undefined {
    const row = selectById.get(id);
    return row === undefined ? undefined : keyOf(row);
  }

  return {
    create(key) {
      return inTransaction(database, () => {
        if (readOrganization(key.organization) === undefined) return false;
        insertKey(key);
        writeChange({ ...creationOf(key), by: key.createdBy });
        return true;
      });
    },
    get: read,
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
    revoke: createRevoke(database, read, writeChange, now),
    noteUses(uses) {
      inTransactionWithoutWaiting(database, () => {
        for (const [id, usedAtMs] of uses) updateUsed.run(usedAtMs, id, usedAtMs);
      });
    },
  };
}

function createRevoke(
  database: DatabaseSync,
  read: (id: string) => StoredKey | undefined,
  writeChange: WriteChange,
  now: () => number,
): KeyRecords['revoke'] {
  const update = database.prepare('UPDATE keys SET revoked_at = ?, revoked_by = ?, revoked_reason = ? WHERE id = ?');
  return function revoke(id, by, reason) {
    return inTransaction(database, () => {
      const before = read(id);
      if (before === undefined || before.revokedAtMs !== undefined) return before;
      const revokedAtMs = now();
      update.run(revokedAtMs, by, reason ?? null, id);
      const { organization } = before;
      writeChange({ by, kind: 'key.revoked', organization, key: id, details: { reason: reason ?? null } });
      return { ...before, revokedAtMs, revokedBy: by, revokedReason: reason };
    });
  };
}

function creationOf({ id, organization, mode, name, scopes, expiresAtMs }: StoredKey) {
  const details = { mode, name, scopes, expires_at: expiresAtMs ?? null };
  return { kind: 'key.created', organization, key: id, details } as const;
}

function keyOf(row: unknown): StoredKey {
  const stored = row as KeyRow;
  return {
    id: stored.id,
    digest: stored.digest,
    organization: stored.organization,
    mode: stored.mode,
    name: stored.name,
    scopes: JSON.parse(stored.scopes),
    allowedCidrs: JSON.parse(stored.allowed_cidrs),
    prefix: stored.prefix,
    lastFour: stored.last_four,
    createdAtMs: stored.created_at,
    createdBy: stored.created_by,
    expiresAtMs: stored.expires_at ?? undefined,
    revokedAtMs: stored.revoked_at ?? undefined,
    revokedBy: stored.revoked_by ?? undefined,
    revokedReason: stored.revoked_reason ?? undefined,
    lastUsedAtMs: stored.last_used_at ?? undefined,
  };
}
