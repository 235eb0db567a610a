// Any number of keys without holding them: the key with a number is always the same one.

import { hash, randomBytes } from 'node:crypto';
import { createApiKey, createDigestOf, displayOf, keyFingerprint } from '../gateway/auth/api-key.ts';
import type { StoredKey } from '../gateway/auth/store/stored-key.ts';
import type { Organization } from '../gateway/exchange/caller.ts';

export const KEYS_PER_ORGANIZATION = 10;
export const digestOf = createDigestOf('a pepper that only measurements use');
export const pepperFingerprint = keyFingerprint(digestOf);

export function keyAt(number: number): string {
  let round = 0;
  return createApiKey('live', (size) => hash('sha512', `${number} ${round++}`, 'buffer').subarray(0, size));
}

/** A well-formed key without an owner. */
export function strangeKey(): string {
  return createApiKey('live', randomBytes);
}

export function organizationAt(number: number): Organization {
  const id = `org_bench${String(number).padStart(15, '0')}`;
  return { id, name: `Organization ${number}`, tier: 'standard', state: 'active', contacts: [], operator: false };
}

export function recordAt(number: number): StoredKey {
  const key = keyAt(number);
  return {
    ...displayOf(key),
    // As scattered as real ones.
    id: `key_${hash('sha1', `${number}`, 'hex').slice(0, 20)}`,
    digest: digestOf(key),
    organization: organizationAt(Math.floor(number / KEYS_PER_ORGANIZATION)).id,
    mode: 'live',
    name: 'a key to be measured with',
    scopes: ['*'],
    allowedCidrs: [],
    createdAtMs: 1_700_000_000_000 + number,
    createdBy: 'bench',
    expiresAtMs: undefined,
    revokedAtMs: undefined,
    revokedBy: undefined,
    revokedReason: undefined,
    lastUsedAtMs: undefined,
    replacedBy: undefined,
  };
}
