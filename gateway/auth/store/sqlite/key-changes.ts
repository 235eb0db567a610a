// Changes to a key of the embedded key store: revocation and rotation.

import type { DatabaseSync } from 'node:sqlite';
import { inTransaction } from '../../../shared/sqlite.ts';
import type { KeyRecords, StoredKey } from '../key-store.ts';
import type { WriteChange } from './audit.ts';
import { type InsertKey, insertNewKey, type ReadKey } from './key-rows.ts';

export interface KeyChangeOptions {
  readonly database: DatabaseSync;
  readonly insertKey: InsertKey;
  readonly readKey: ReadKey;
  readonly writeChange: WriteChange;
  now(): number;
}

export function createRevoke({ database, readKey, writeChange, now }: KeyChangeOptions): KeyRecords['revoke'] {
  const update = database.prepare('UPDATE keys SET revoked_at = ?, revoked_by = ?, revoked_reason = ? WHERE id = ?');
  return function revoke(id, by, reason) {
    return inTransaction(database, () => {
      const before = readKey(id);
      if (before === undefined || before.revokedAtMs !== undefined) return before;
      const revokedAtMs = now();
      update.run(revokedAtMs, by, reason ?? null, id);
      const { organization } = before;
      writeChange({ by, kind: 'key.revoked', organization, key: id, details: { reason: reason ?? null } });
      return { ...before, revokedAtMs, revokedBy: by, revokedReason: reason };
    });
  };
}

export function createRotate(options: KeyChangeOptions): KeyRecords['rotate'] {
  const { database, insertKey, readKey, writeChange, now } = options;
  const update = database.prepare('UPDATE keys SET expires_at = ?, replaced_by = ? WHERE id = ?');
  return function rotate(id, successor, endsAtMs) {
    return inTransaction(database, () => {
      const before = readKey(id);
      if (before === undefined || !isActive(before, now())) return undefined;
      insertNewKey(insertKey, successor);
      const expiresAtMs = Math.min(endsAtMs, before.expiresAtMs ?? Number.POSITIVE_INFINITY);
      update.run(expiresAtMs, successor.id, id);
      const { organization } = before;
      const details = { successor: successor.id, ends_at: expiresAtMs };
      writeChange({ by: successor.createdBy, kind: 'key.rotated', organization, key: id, details });
      return { ...before, expiresAtMs, replacedBy: successor.id };
    });
  };
}

function isActive({ revokedAtMs, expiresAtMs, replacedBy }: StoredKey, nowMs: number): boolean {
  return revokedAtMs === undefined && replacedBy === undefined && (expiresAtMs === undefined || expiresAtMs > nowMs);
}
