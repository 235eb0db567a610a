// The actions that list and get keys, with the state and the tag of a key.

import { keyState } from '../auth/key-json.ts';
import type { KeyStore } from '../auth/store/key-store.ts';
import type { StoredKey } from '../auth/store/stored-key.ts';
import { GatewayError } from '../catalogue/errors.ts';
import { etagOf } from './etag.ts';
import { type PartOfList, partOfPages } from './part.ts';

export interface KeyDeps {
  readonly store: KeyStore;
  now(): number;
}

export interface OneKey {
  readonly id: string;
  /**
   * The organization of the key. A key of another organization is treated as missing. If it is undefined, the key is one of the
   * organization of the acting key, or, on the machine of the gateway, of any organization.
   */
  readonly organization: string | undefined;
}

/** Returns the entity tag of a key. It covers all members that actions can change. */
export function keyTag({ name, scopes, allowedCidrs, expiresAtMs, revokedAtMs, replacedBy }: StoredKey): string {
  return etagOf({ name, scopes, allowedCidrs, expiresAtMs, revokedAtMs, replacedBy });
}

export interface KeyListing {
  /** The organization whose keys are listed; undefined for all organizations. */
  readonly organization: string | undefined;
  readonly state: 'active' | 'expired' | 'revoked' | undefined;
  /** The id of a key. Only later keys are read. */
  readonly after: string | undefined;
  readonly most: number;
}

/** Lists keys, oldest first. Throws resource_missing for an unknown organization. */
export async function listKeys(
  { store, now }: KeyDeps,
  { organization, state, after, most }: KeyListing,
): Promise<PartOfList<StoredKey>> {
  if (organization !== undefined && (await store.organizations.get(organization)) === undefined)
    throw new GatewayError('resource_missing');
  const nowMs = now();
  const isWanted = (key: StoredKey) => state === undefined || stateOf(key, nowMs) === state;
  return partOfPages(store.keys.scan({ organization, after }), isWanted, most);
}

/** Returns the state of a key for lists. A key with a successor is active until it expires. */
export function stateOf(key: StoredKey, nowMs: number): 'active' | 'expired' | 'revoked' {
  const state = keyState(key, nowMs);
  return state === 'rotating' ? 'active' : state;
}

/** Throws resource_missing. */
export async function getKey({ store }: Pick<KeyDeps, 'store'>, { id, organization }: OneKey): Promise<StoredKey> {
  const key = await store.keys.get(id);
  if (key === undefined || (organization !== undefined && key.organization !== organization))
    throw new GatewayError('resource_missing');
  return key;
}
