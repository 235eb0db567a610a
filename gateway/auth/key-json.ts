// The JSON form of a stored key in commands, the admin listener and exports.

import type { StoredKey } from './store/stored-key.ts';

/** The name of each member of a stored key outside the process, in JSON and as a column of the embedded store, in the order of both. */
export const KEY_MEMBERS: Readonly<Record<keyof StoredKey, string>> = {
  id: 'id',
  digest: 'digest',
  organization: 'organization',
  mode: 'mode',
  name: 'name',
  scopes: 'scopes',
  allowedCidrs: 'allowed_cidrs',
  prefix: 'prefix',
  lastFour: 'last_four',
  createdAtMs: 'created_at',
  createdBy: 'created_by',
  expiresAtMs: 'expires_at',
  revokedAtMs: 'revoked_at',
  revokedBy: 'revoked_by',
  revokedReason: 'revoked_reason',
  lastUsedAtMs: 'last_used_at',
  replacedBy: 'replaced_by',
};
const NAMES = Object.entries(KEY_MEMBERS) as [keyof StoredKey, string][];

type Members = Readonly<Record<string, unknown>>;

/** Returns all members for exports, including the digest. Times become ISO texts, and a missing value becomes null. */
export function membersOfKey(key: StoredKey): Members {
  return Object.fromEntries(
    NAMES.map(([name, member]) => [member, isTime(name) ? timeOf(key[name]) : (key[name] ?? null)]),
  );
}

/** Reads a key from the result of `membersOfKey`. */
export function keyOfMembers(members: Members): StoredKey {
  const entries = NAMES.map(([name, member]) => [
    name,
    isTime(name) ? momentOf(members[member]) : (members[member] ?? undefined),
  ]);
  return Object.fromEntries(entries) as StoredKey;
}

/**
 * Returns the public members of a key, including its state, but never its digest.
 *
 * @param key the key itself, which is known only when it is created
 */
export function keyToJson(record: StoredKey, nowMs: number, key?: string): Members {
  const { digest: _, id, organization, mode, name, ...others } = membersOfKey(record);
  return { id, ...(key !== undefined && { key }), organization, mode, name, state: keyState(record, nowMs), ...others };
}

/** Returns the state of a key. `rotating`: the key has a successor, and works until the overlap ends. */
export function keyState({ revokedAtMs, expiresAtMs, replacedBy }: StoredKey, nowMs: number) {
  if (revokedAtMs !== undefined) return 'revoked';
  if (expiresAtMs !== undefined && expiresAtMs <= nowMs) return 'expired';
  return replacedBy === undefined ? 'active' : 'rotating';
}

function isTime(name: keyof StoredKey): boolean {
  return name.endsWith('AtMs');
}

function timeOf(atMs: unknown): string | null {
  return atMs === undefined ? null : new Date(atMs as number).toISOString();
}

function momentOf(time: unknown): number | undefined {
  return time === null ? undefined : Date.parse(time as string);
}
