// Bounded cache of presented keys: the caller of each valid key, and the absence of each unknown one. Keys are held as hashes under a
// secret of this process, so that a memory dump contains no key.

import { hash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../exchange.ts';

/** Hash of a presented key. */
export type KeyHash = string;

export interface KnownCaller {
  readonly caller: Caller;
  /** Epoch milliseconds at which the use of the key was last noted. */
  usedAtMs: number;
}

export interface CallerCache {
  hashOf(key: string): KeyHash;
  find(hash: KeyHash): KnownCaller | undefined;
  isAbsent(hash: KeyHash): boolean;
  remember(hash: KeyHash, known: KnownCaller): void;
  rememberAbsence(hash: KeyHash): void;
  dropKey(id: string): void;
  dropOrganization(id: string): void;
  dropAbsences(): void;
  dropAll(): void;
  sizes(): { readonly callers: number; readonly absences: number };
}

export interface CallerCacheOptions {
  readonly positiveMax: number;
  readonly negativeMax: number;
}

export function createCallerCache({ positiveMax, negativeMax }: CallerCacheOptions): CallerCache {
  const secret = randomBytes(32).toString('base64');
  const byKeyId = new Map<string, KeyHash>();
  const byOrganization = new Map<string, Set<KeyHash>>();
  // A cache makes room for all of its entries, 12 ms for 100,000: this one on first use.
  let absences: LRUCache<KeyHash, true> | undefined;
  const callers = new LRUCache<KeyHash, KnownCaller>({
    max: positiveMax,
    dispose({ caller }, keyHash) {
      byKeyId.delete(caller.subject);
      const ofOrganization = byOrganization.get(caller.organization?.id ?? '');
      ofOrganization?.delete(keyHash);
      if (ofOrganization?.size === 0) byOrganization.delete(caller.organization?.id ?? '');
    },
  });

  function index(keyHash: KeyHash, { subject, organization }: Caller): void {
    byKeyId.set(subject, keyHash);
    const id = organization?.id ?? '';
    const ofOrganization = byOrganization.get(id);
    if (ofOrganization === undefined) byOrganization.set(id, new Set([keyHash]));
    else ofOrganization.add(keyHash);
  }

  return {
    hashOf: (key) => hash('sha256', secret + key, 'base64url'),
    find: (keyHash) => callers.get(keyHash),
    isAbsent: (keyHash) => absences?.get(keyHash) === true,
    remember(keyHash, known) {
      callers.set(keyHash, known);
      index(keyHash, known.caller);
    },
    rememberAbsence(keyHash) {
      absences ??= new LRUCache({ max: negativeMax });
      absences.set(keyHash, true);
    },
    dropKey: (id) => void callers.delete(byKeyId.get(id) ?? ''),
    dropOrganization(id) {
      for (const keyHash of [...(byOrganization.get(id) ?? [])]) callers.delete(keyHash);
    },
    dropAbsences: () => absences?.clear(),
    dropAll() {
      callers.clear();
      absences?.clear();
    },
    sizes: () => ({ callers: callers.size, absences: absences?.size ?? 0 }),
  };
}
