// A key as commands and the console show it to programs. It never holds the digest.

import type { StoredKey } from './store/key-store.ts';

type KeyState = 'active' | 'rotating' | 'revoked' | 'expired';

/** `rotating`: the key has a successor and works until the overlap ends. */
export function keyState({ revokedAtMs, expiresAtMs, replacedBy }: StoredKey, nowMs: number): KeyState {
  if (revokedAtMs !== undefined) return 'revoked';
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) return 'expired';
  return replacedBy === undefined ? 'active' : 'rotating';
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

function timeOrNull(atMs: number | undefined): string | null {
  return atMs === undefined ? null : new Date(atMs).toISOString();
}
