// Converts keys to and from rows of the embedded key store.

import type { DatabaseSync } from 'node:sqlite';
import type { Mode } from '../../../exchange.ts';
import type { StoredKey } from '../key-store.ts';

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
  readonly replaced_by: string | null;
}

export type InsertKey = (key: StoredKey) => boolean;
export type ReadKey = (id: string) => StoredKey | undefined;

/** Returns false if the id or the digest is taken. */
export function createInsertKey(database: DatabaseSync): InsertKey {
  const insert = database.prepare(
    'INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  return function insertKey(key) {
    const { changes } = insert.run(
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
      key.replacedBy ?? null,
    );
    return changes === 1;
  };
}

/** For new keys: an existing id or digest is a fault, not a normal result. */
export function insertNewKey(insertKey: InsertKey, key: StoredKey): void {
  if (!insertKey(key)) throw new Error(`The key ${key.id} exists already.`);
}

export function createReadKey(database: DatabaseSync): ReadKey {
  const select = database.prepare('SELECT * FROM keys WHERE id = ?');
  return function readKey(id) {
    const row = select.get(id);
    return row === undefined ? undefined : keyOf(row);
  };
}

export function keyOf(row: unknown): StoredKey {
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
    replacedBy: stored.replaced_by ?? undefined,
  };
}
