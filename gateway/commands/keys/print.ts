// Prints keys: as a table for people, as JSON for programs. Never prints the digest.

import type { StoredKey } from '../../auth/store/key-store.ts';
import type { CommandContext } from '../context.ts';
import { printTable, printText, shortTime, timeOrNull } from '../print.ts';

type KeyState = 'active' | 'rotating' | 'revoked' | 'expired';

/** `rotating`: the key has a successor and works until the overlap ends. */
export function keyState({ revokedAtMs, expiresAtMs, replacedBy }: StoredKey, nowMs: number): KeyState {
  if (revokedAtMs !== undefined) return 'revoked';
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) return 'expired';
  return replacedBy === undefined ? 'active' : 'rotating';
}

/** One row per key. The column of successors appears only if a key has one, to save width. */
export function printKeys(context: CommandContext, records: readonly StoredKey[]): void {
  const heads = ['id', 'organization', 'mode', 'key', 'name', 'scopes', 'addresses', 'state', 'expires', 'last used'];
  const successors = records.some(({ replacedBy }) => replacedBy !== undefined);
  const rows = records.map((record) => [
    record.id,
    record.organization,
    record.mode,
    `${record.prefix}…${record.lastFour}`,
    record.name,
    record.scopes.join(','),
    record.allowedCidrs.join(','),
    keyState(record, context.now()),
    shortTime(record.expiresAtMs),
    shortTime(record.lastUsedAtMs),
    ...(successors ? [record.replacedBy ?? ''] : []),
  ]);
  printTable(context, successors ? [...heads, 'replaced by'] : heads, rows);
}

/** Prints a new key. It is never shown again. */
export function printNewKey(context: CommandContext, key: string): void {
  printText(context, `${key}\n\nThis is the only time the key is shown: keep it where you keep secrets.\n`);
}

/** @param key the key itself, available only when it is created */
export function keyToJson(record: StoredKey, nowMs: number, key?: string) {
  return {
    id: record.id,
    ...(key !== undefined && { key }),
    organization: record.organization,
    mode: record.mode,
    name: record.name,
    state: keyState(record, nowMs),
    scopes: record.scopes,
    allowed_cidrs: record.allowedCidrs,
    prefix: record.prefix,
    last_four: record.lastFour,
    created_at: timeOrNull(record.createdAtMs),
    created_by: record.createdBy,
    expires_at: timeOrNull(record.expiresAtMs),
    revoked_at: timeOrNull(record.revokedAtMs),
    revoked_by: record.revokedBy ?? null,
    revoked_reason: record.revokedReason ?? null,
    last_used_at: timeOrNull(record.lastUsedAtMs),
    replaced_by: record.replacedBy ?? null,
  };
}
