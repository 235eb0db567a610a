// The cache of identities in this process: callers of valid keys, absences of unknown keys, and organizations. A change in the store drops
// the entries that it makes out of date.

import { LRUCache } from 'lru-cache';
import type { Caller, Organization } from '../caller.ts';
import { type CredentialHash, createCredentialHash } from './credentials.ts';
import type { KeyAndOwner, KeyStoreChange } from './store/key-store.ts';
import { toCaller, toKnownOrganization } from './to-caller.ts';

export interface KnownCaller {
  readonly caller: Caller;
  /** Epoch milliseconds at which the use of the key was last noted. */
  usedAtMs: number;
}

export interface IdentityCacheOptions {
  /** Size of the cache of callers and of the cache of organizations. */
  readonly positiveMax: number;
  /** Size of the cache of unknown keys. */
  readonly negativeMax: number;
}

interface IdentityCache {
  /** Hashes a presented key; the other functions take the hash. */
  hashOf(key: string): CredentialHash;
  caller(keyHash: CredentialHash): KnownCaller | undefined;
  isAbsent(keyHash: CredentialHash): boolean;
  organization(id: string): Organization | undefined;
  /** Converts the store's answer, and caches it if `keep` is true. */
  learnKey(keyHash: CredentialHash, found: KeyAndOwner | undefined, keep: boolean): KnownCaller | undefined;
  learnOrganization(id: string, found: Organization | undefined, keep: boolean): Organization | undefined;
  /** Drops exactly the entries that the change affects. */
  forget(change: KeyStoreChange): void;
  forgetAll(): void;
  /** Number of calls of `forget` and `forgetAll`. */
  changes(): number;
  sizes(): { readonly callers: number; readonly absences: number; readonly organizations: number };
}

export function createIdentityCache({ positiveMax, negativeMax }: IdentityCacheOptions): IdentityCache {
  const byKeyId = new Map<string, CredentialHash>();
  const byOrganization = new Map<string, Set<CredentialHash>>();
  const callers = new LRUCache<CredentialHash, KnownCaller>({
    max: positiveMax,
    dispose({ caller }, keyHash) {
      byKeyId.delete(caller.subject);
      const ofOrganization = byOrganization.get(caller.organization?.id ?? '');
      ofOrganization?.delete(keyHash);
      if (ofOrganization?.size === 0) byOrganization.delete(caller.organization?.id ?? '');
    },
  });
  // An LRUCache allocates space for all of its entries when it is made: 12 ms for 100,000. So these two are made on first use. Only tokens
  // of issuers use the cache of organizations.
  let absences: LRUCache<CredentialHash, true> | undefined;
  let organizations: LRUCache<string, Organization> | undefined;

  let changes = 0;

  function remember(keyHash: CredentialHash, known: KnownCaller): void {
    callers.set(keyHash, known);
    const { subject, organization } = known.caller;
    byKeyId.set(subject, keyHash);
    const id = organization?.id ?? '';
    const ofOrganization = byOrganization.get(id);
    if (ofOrganization === undefined) byOrganization.set(id, new Set([keyHash]));
    else ofOrganization.add(keyHash);
  }

  function rememberAbsence(keyHash: CredentialHash): void {
    absences ??= new LRUCache({ max: negativeMax });
    absences.set(keyHash, true);
  }

  function forgetAll(): void {
    changes += 1;
    callers.clear();
    absences?.clear();
    organizations?.clear();
  }

  function forget({ kind, key = '', organization = '' }: KeyStoreChange): void {
    changes += 1;
    switch (kind) {
      case 'key.created':
        absences?.clear();
        break;
      case 'key.rotated':
        // The old key now has an expiry time, and its successor exists.
        callers.delete(byKeyId.get(key) ?? '');
        absences?.clear();
        break;
      case 'key.changed':
      case 'key.revoked':
        callers.delete(byKeyId.get(key) ?? '');
        break;
      case 'organization.changed':
      case 'organization.tier_changed':
      case 'organization.suspended':
      case 'organization.resumed':
        // A copy, because each deletion changes the set.
        for (const keyHash of [...(byOrganization.get(organization) ?? [])]) callers.delete(keyHash);
        organizations?.delete(organization);
        break;
      // No cached entry depends on these: a new organization had none.
      case 'configuration.changed':
      case 'limits.reset':
      case 'upstream.retried':
      case 'alerts.silenced':
      case 'session.ended':
      case 'organization.created':
        break;
      case 'organizations.seeded':
      case 'records.imported':
        forgetAll();
        break;
      default:
        kind satisfies never;
        // Written by a newer gateway on the same store: its effect is unknown here.
        forgetAll();
    }
  }

  return {
    hashOf: createCredentialHash(),
    caller: (keyHash) => callers.get(keyHash),
    isAbsent: (keyHash) => absences?.get(keyHash) === true,
    organization: (id) => organizations?.get(id),
    learnKey(keyHash, found, keep) {
      if (found === undefined) {
        if (keep) rememberAbsence(keyHash);
        return undefined;
      }
      const known = { caller: toCaller(found), usedAtMs: found.key.lastUsedAtMs ?? Number.NEGATIVE_INFINITY };
      if (keep) remember(keyHash, known);
      return known;
    },
    // Unknown organizations are not cached: only an accepted token issuer can name them.
    learnOrganization(id, found, keep) {
      const known = found && toKnownOrganization(found);
      if (keep && known !== undefined) {
        organizations ??= new LRUCache({ max: positiveMax });
        organizations.set(id, known);
      }
      return known;
    },
    forget,
    forgetAll,
    changes: () => changes,
    sizes: () => ({
      callers: callers.size,
      absences: absences?.size ?? 0,
      organizations: organizations?.size ?? 0,
    }),
  };
}
