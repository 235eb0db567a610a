// The stored record of a key, and when the key works.

import type { Mode, Organization } from '../../exchange/caller.ts';
import type { KeyStore } from './key-store.ts';

/** The stored record of a key; the key itself is not stored. */
export interface StoredKey {
  readonly id: string;
  readonly digest: string;
  /** Id of the organization. */
  readonly organization: string;
  readonly mode: Mode;
  readonly name: string;
  readonly scopes: readonly string[];
  /** Addresses and CIDR ranges from which the key may be used; empty if any address may use it. */
  readonly allowedCidrs: readonly string[];
  readonly prefix: string;
  readonly lastFour: string;
  readonly createdAtMs: number;
  readonly createdBy: string;
  readonly expiresAtMs: number | undefined;
  readonly revokedAtMs: number | undefined;
  readonly revokedBy: string | undefined;
  readonly revokedReason: string | undefined;
  readonly lastUsedAtMs: number | undefined;
  /** Id of the successor after a rotation. This key then works until the overlap ends. */
  readonly replacedBy: string | undefined;
}

export function hasExpired({ expiresAtMs }: Pick<StoredKey, 'expiresAtMs'>, nowMs: number): boolean {
  return expiresAtMs !== undefined && expiresAtMs <= nowMs;
}

/** Whether a key works: it is neither revoked nor expired. */
export function isWorking(key: StoredKey, nowMs: number): boolean {
  return key.revokedAtMs === undefined && !hasExpired(key, nowMs);
}

/** Whether a key may be rotated: it works and has no successor. */
export function isRotatable(key: StoredKey, nowMs: number): boolean {
  return key.replacedBy === undefined && isWorking(key, nowMs);
}

/**
 * Whether `other` still works after `key` is revoked. For a live key, `other` must be a live key, too, because only a live key can create
 * keys.
 */
export function takesPlaceOf(other: StoredKey, key: StoredKey, nowMs: number): boolean {
  return isWorking(other, nowMs) && other.id !== key.id && (other.mode === 'live' || key.mode === 'test');
}

export interface KeyAndOwner {
  readonly key: StoredKey;
  readonly organization: Organization;
}

/** The members that a change of a key may set. `expiresAtMs: undefined` removes the expiry. */
export type KeyPatch = Partial<Pick<StoredKey, 'name' | 'scopes' | 'allowedCidrs' | 'expiresAtMs'>>;

/** Returns the ids of the working keys of an organization, oldest first. */
export async function workingKeysOf(
  { keys }: Pick<KeyStore, 'keys'>,
  organization: string,
  nowMs: number,
): Promise<readonly string[]> {
  const all = await keys.list({ organization });
  return all.filter((key) => isWorking(key, nowMs)).map(({ id }) => id);
}
