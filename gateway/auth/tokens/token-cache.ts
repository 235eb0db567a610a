// Bounded cache of verified tokens, by their hashes. An entry is dropped when the issuer no longer publishes its key.

import { LRUCache } from 'lru-cache';
import type { Caller } from '../../exchange/caller.ts';
import type { ScopeRules } from '../../shared/contracts/scopes.ts';
import { type CredentialHash, createCredentialHash } from '../credentials.ts';
import type { KeySet } from './issuer-key-set.ts';
import type { Issuer } from './issuers.ts';
import type { TokenClaims } from './verify-token.ts';

export interface KnownToken {
  readonly issuer: Issuer;
  readonly claims: TokenClaims;
  /** Replaced when the organization or the rules of scopes change. */
  caller: Caller;
  /** The rules under which `caller` was made. */
  scopeRules: ScopeRules;
  /** Id of the key that verified the token. */
  readonly keyId: string;
  /** The issuer's key set in which the key of the token was last found; undefined before the first check. */
  keys: KeySet | undefined;
}

interface TokenCache {
  hashOf(token: string): CredentialHash;
  find(hash: CredentialHash): KnownToken | undefined;
  /** Adds an entry, or keeps the existing entry. Returns the entry in the cache. */
  remember(hash: CredentialHash, known: KnownToken): KnownToken;
  size(): number;
}

export function createTokenCache({ max }: { readonly max: number }): TokenCache {
  /** The cache is created with the first token, because making room for all its entries takes 12 ms for 100,000. */
  let tokens: LRUCache<CredentialHash, KnownToken> | undefined;

  function find(tokenHash: CredentialHash): KnownToken | undefined {
    const known = tokens?.get(tokenHash);
    if (known === undefined || hasItsKey(known)) return known;
    tokens?.delete(tokenHash);
    return undefined;
  }

  return {
    hashOf: createCredentialHash(),
    find,
    remember(tokenHash, known) {
      const earlier = find(tokenHash);
      if (earlier !== undefined) return earlier;
      tokens ??= new LRUCache({ max });
      tokens.set(tokenHash, known);
      return known;
    },
    size: () => tokens?.size ?? 0,
  };
}

/**
 * Whether the issuer still has the key of the token. Nearly always this compares two references, because a key set is one object until a
 * key changes.
 */
function hasItsKey(known: KnownToken): boolean {
  const keys = known.issuer.keys.current();
  if (keys === known.keys) return true;
  if (!keys?.ids.has(known.keyId)) return false;
  known.keys = keys;
  return true;
}
