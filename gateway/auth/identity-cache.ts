// The cache of identities in this process: callers of valid keys, absences of unknown keys, and organizations. A change in the store drops
// the entries that it makes out of date.

import { LRUCache } from 'lru-cache';
import type { Caller, Organization } from '../exchange/caller.ts';
import { type CredentialHash, createCredentialHash } from './credentials.ts';
import type { KeyStoreChange } from './store/key-store.ts';
import type { KeyAndOwner } from './store/stored-key.ts';
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

export class IdentityCache {
  /** Hashes a presented key; the other functions take the hash. */
  readonly hashOf = createCredentialHash();
  readonly #options: IdentityCacheOptions;
  readonly #byKeyId = new Map<string, CredentialHash>();
  readonly #byOrganization = new Map<string, Set<CredentialHash>>();
  readonly #callers: LRUCache<CredentialHash, KnownCaller>;
  // The cache of unknown keys and the cache of organizations, which only tokens and sessions use, are created on first use. An LRUCache
  // allocates the space for all its entries at once, which takes 12 ms for 100,000.
  #absences: LRUCache<CredentialHash, true> | undefined;
  #organizations: LRUCache<string, Organization> | undefined;
  #changes = 0;

  constructor(options: IdentityCacheOptions) {
    this.#options = options;
    this.#callers = new LRUCache({
      max: options.positiveMax,
      dispose: ({ caller }, keyHash) => this.#disposed(caller, keyHash),
    });
  }

  caller(keyHash: CredentialHash): KnownCaller | undefined {
    return this.#callers.get(keyHash);
  }

  isAbsent(keyHash: CredentialHash): boolean {
    return this.#absences?.get(keyHash) === true;
  }

  organization(id: string): Organization | undefined {
    return this.#organizations?.get(id);
  }

  /** Converts the store's answer, and caches it if `keep` is true. */
  learnKey(keyHash: CredentialHash, found: KeyAndOwner | undefined, keep: boolean): KnownCaller | undefined {
    if (found === undefined) {
      if (keep) this.#rememberAbsence(keyHash);
      return undefined;
    }
    const known = { caller: toCaller(found), usedAtMs: found.key.lastUsedAtMs ?? Number.NEGATIVE_INFINITY };
    if (keep) this.#remember(keyHash, known);
    return known;
  }

  /** Converts the store's answer. Unknown organizations are not cached, because only an accepted token issuer can name them. */
  learnOrganization(id: string, found: Organization | undefined, keep: boolean): Organization | undefined {
    const known = found && toKnownOrganization(found);
    if (keep && known !== undefined) {
      this.#organizations ??= new LRUCache({ max: this.#options.positiveMax });
      this.#organizations.set(id, known);
    }
    return known;
  }

  /** Drops exactly the entries that the change affects. */
  forget({ kind, key = '', organization = '' }: KeyStoreChange): void {
    this.#changes += 1;
    switch (kind) {
      case 'key.created':
        this.#absences?.clear();
        break;
      case 'key.rotated':
        // The rotated key now has an expiry time.
        this.#callers.delete(this.#byKeyId.get(key) ?? '');
        this.#absences?.clear();
        break;
      case 'key.changed':
      case 'key.revoked':
        this.#callers.delete(this.#byKeyId.get(key) ?? '');
        break;
      case 'organization.changed':
      case 'organization.tier_changed':
      case 'organization.suspended':
      case 'organization.resumed':
        // The loop uses a copy, because each deletion changes the set.
        for (const keyHash of [...(this.#byOrganization.get(organization) ?? [])]) this.#callers.delete(keyHash);
        this.#organizations?.delete(organization);
        break;
      // No cached entry depends on these changes.
      case 'configuration.changed':
      case 'limits.reset':
      case 'upstream.retried':
      case 'alerts.silenced':
      case 'session.ended':
      case 'organization.created':
        break;
      case 'organizations.seeded':
      case 'records.imported':
        this.forgetAll();
        break;
      default:
        kind satisfies never;
        // A newer version of the gateway has written this kind of change. All entries are dropped, because the effect of the change is
        // unknown.
        this.forgetAll();
    }
  }

  forgetAll(): void {
    this.#changes += 1;
    this.#callers.clear();
    this.#absences?.clear();
    this.#organizations?.clear();
  }

  /** Returns the number of calls of `forget` and `forgetAll`. */
  changes(): number {
    return this.#changes;
  }

  sizes(): { readonly callers: number; readonly absences: number; readonly organizations: number } {
    return {
      callers: this.#callers.size,
      absences: this.#absences?.size ?? 0,
      organizations: this.#organizations?.size ?? 0,
    };
  }

  #remember(keyHash: CredentialHash, known: KnownCaller): void {
    this.#callers.set(keyHash, known);
    const { subject, organization } = known.caller;
    this.#byKeyId.set(subject, keyHash);
    const id = organization?.id ?? '';
    const ofOrganization = this.#byOrganization.get(id);
    if (ofOrganization === undefined) this.#byOrganization.set(id, new Set([keyHash]));
    else ofOrganization.add(keyHash);
  }

  #rememberAbsence(keyHash: CredentialHash): void {
    this.#absences ??= new LRUCache({ max: this.#options.negativeMax });
    this.#absences.set(keyHash, true);
  }

  #disposed({ subject, organization }: Caller, keyHash: CredentialHash): void {
    this.#byKeyId.delete(subject);
    const id = organization?.id ?? '';
    const ofOrganization = this.#byOrganization.get(id);
    ofOrganization?.delete(keyHash);
    if (ofOrganization?.size === 0) this.#byOrganization.delete(id);
  }
}
