// Bounded memory of tokens that were verified, by hashes under a secret of this process. A token whose key its issuer no longer has is not
// among them any more.

import { hash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../../exchange.ts';
import type { KeySet } from './issuer-key-set.ts';
import type { Issuer } from './issuers.ts';
import type { TokenClaims } from './verify.ts';

/** Hash of a presented token. */
export type TokenHash = string;

export interface KnownToken {
  readonly issuer: Issuer;
  readonly claims: TokenClaims;
  /** Replaced when something about its organization changes. */
  caller: Caller;
  /** Which key it was verified with. */
  readonly keyId: string;
  /** The keys of its issuer among which that was last found; undefined: not looked for again yet. */
  keys: KeySet | undefined;
}

export interface TokenCache {
  hashOf(token: string): TokenHash;
  find(hash: TokenHash): KnownToken | undefined;
  /** What the cache holds from now on: the earlier entry if there is one. */
  remember(hash: TokenHash, known: KnownToken): KnownToken;
  size(): number;
}

export function createTokenCache({ max }: { readonly max: number }): TokenCache {
  const secret = randomBytes(32).toString('base64');
  const tokens = new LRUCache<TokenHash, KnownToken>({ max });

  function find(tokenHash: TokenHash): KnownToken | undefined {
    const known = tokens.get(tokenHash);
    if (known === undefined || hasItsKey(known)) return known;
    tokens.delete(tokenHash);
    return undefined;
  }

  return {
    hashOf: (token) => hash('sha256', secret + token, 'base64url'),
    find,
    remember(tokenHash, known) {
      const earlier = find(tokenHash);
      if (earlier === undefined) tokens.set(tokenHash, known);
      return earlier ?? known;
    },
    size: () => tokens.size,
  };
}

/** Keys stay the same object until one of them changes, so this is a comparison of two references nearly always. */
function hasItsKey(known: KnownToken): boolean {
  const keys = known.issuer.keys.current();
  if (keys === known.keys) return true;
  if (!keys?.ids.has(known.keyId)) return false;
  known.keys = keys;
  return true;
}
