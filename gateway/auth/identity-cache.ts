// Caches keys and organizations in this process, and drops the entries that a change makes out of date.

import { LRUCache } from 'lru-cache';
import type { Organization } from '../exchange.ts';
import { type CallerCache, createCallerCache, type KeyHash, type KnownCaller } from './caller-cache.ts';
import type { KeyAndOwner, KeyStoreChange } from './store/key-store.ts';
import { toCaller, toKnownOrganization } from './to-caller.ts';

export interface IdentityCacheOptions {
  /** Size of the cache of callers and of the cache of organizations. */
  readonly positiveMax: number;
  /** Size of the cache of unknown keys. */
  readonly negativeMax: number;
}

export interface IdentityCache {
  readonly callers: CallerCache;
  organization(id: string): Organization | undefined;
  /** Converts the store's answer, and caches it if `keep` is true. */
  learnKey(keyHash: KeyHash, found: KeyAndOwner | undefined, keep: boolean): KnownCaller | undefined;
  learnOrganization(id: string, found: Organization | undefined, keep: boolean): Organization | undefined;
  /** Drops exactly the entries that the change affects. */
  forget(change: KeyStoreChange): void;
  forgetAll(): void;
  sizes(): { readonly callers: number; readonly absences: number; readonly organizations: number };
}

export function createIdentityCache({ positiveMax, negativeMax }: IdentityCacheOptions): IdentityCache {
  const callers = createCallerCache({ positiveMax, negativeMax });
  /** Made on first use: only tokens of issuers name organizations. */
  let organizations: LRUCache<string, Organization> | undefined;

  function forgetAll(): void {
    callers.dropAll();
    organizations?.clear();
  }

  function forget({ kind, key = '', organization = '' }: KeyStoreChange): void {
    switch (kind) {
      case 'key.created':
        callers.dropAbsences();
        break;
      case 'key.rotated':
        // The old key now has an expiry time, and its successor exists.
        callers.dropKey(key);
        callers.dropAbsences();
        break;
      case 'key.revoked':
        callers.dropKey(key);
        break;
      case 'organization.tier_changed':
      case 'organization.suspended':
      case 'organization.resumed':
        callers.dropOrganization(organization);
        organizations?.delete(organization);
        break;
      // No cached entry depends on these: a new organization had none.
      case 'configuration.changed':
      case 'limits.reset':
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
    callers,
    organization: (id) => organizations?.get(id),
    learnKey(keyHash, found, keep) {
      if (found === undefined) {
        if (keep) callers.rememberAbsence(keyHash);
        return undefined;
      }
      const known = { caller: toCaller(found), usedAtMs: found.key.lastUsedAtMs ?? Number.NEGATIVE_INFINITY };
      if (keep) callers.remember(keyHash, known);
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
    sizes: () => ({ ...callers.sizes(), organizations: organizations?.size ?? 0 }),
  };
}
