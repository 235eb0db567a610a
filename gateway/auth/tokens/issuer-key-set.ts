// Parses the key set of an issuer (RFC 7517), and keeps the keys that can verify tokens.

import { type CryptoKey, calculateJwkThumbprint, createLocalJWKSet, type JWK } from 'jose';

/** The bound on imported keys. An issuer has a few keys, and importing thousands would block the process. */
const KEYS_MAX = 100;
const RSA_BITS_MIN = 2048;

export interface VerifyingKey {
  /** Equal for the same key with the same name and algorithm, in every set that contains it. */
  readonly id: string;
  readonly kid: string | undefined;
  readonly algorithm: string;
  readonly key: CryptoKey;
}

export interface KeySet {
  /** One entry for each algorithm that a key may be used with. */
  readonly keys: readonly VerifyingKey[];
  readonly ids: ReadonlySet<string>;
}

type FoundIssuerKey =
  | { readonly outcome: 'found'; readonly key: VerifyingKey }
  /** No key has this name, or no key fits a token that names none. A newer set might contain a fitting key. */
  | { readonly outcome: 'unknown' }
  /** The named key does not fit, or several fit. */
  | { readonly outcome: 'unfit' };

/**
 * Parses a JWK Set into the keys that can be used with these algorithms. Rejects with an Error for operators if the text is no JWK Set or
 * contains no usable key.
 */
export async function toKeySet(text: string, algorithms: readonly string[]): Promise<KeySet> {
  const candidates = parse(text).flatMap((jwk) => algorithms.map((algorithm) => toVerifyingKey(jwk, algorithm)));
  const keys = (await Promise.all(candidates)).filter((key) => key !== undefined);
  if (keys.length === 0) throw new Error('it names no key that tokens can be verified with');
  return Object.freeze({ keys: Object.freeze(keys), ids: new Set(keys.map(({ id }) => id)) });
}

export function isSameKeySet(one: KeySet | undefined, other: KeySet): boolean {
  return one?.ids.size === other.ids.size && [...other.ids].every((id) => one.ids.has(id));
}

/** Finds the key that verifies a token. For a token that names no key, returns the only key that fits. */
export function findIn(set: KeySet | undefined, kid: string | undefined, algorithm: string): FoundIssuerKey {
  const named = set?.keys.filter((key) => kid === undefined || key.kid === kid) ?? [];
  const [key, ...others] = named.filter((candidate) => candidate.algorithm === algorithm);
  if (key !== undefined) return others.length === 0 ? { outcome: 'found', key } : { outcome: 'unfit' };
  return { outcome: kid === undefined || named.length === 0 ? 'unknown' : 'unfit' };
}

function parse(text: string): JWK[] {
  let keys: unknown;
  try {
    keys = (JSON.parse(text) as { keys?: unknown } | null)?.keys;
  } catch {
    throw new Error('it is not JSON');
  }
  if (!Array.isArray(keys)) throw new Error('it is not a JWK Set');
  if (keys.length > KEYS_MAX) throw new Error(`it has more than ${KEYS_MAX} keys`);
  return keys;
}

/**
 * Returns undefined for an unsuitable key: wrong type or curve, for encryption (`use`), not for verifying (`key_ops`), for another
 * algorithm (`alg`), private, malformed or too short. Sets also contain keys for other purposes, which are skipped (RFC 7517 section 5).
 */
async function toVerifyingKey(jwk: JWK, algorithm: string): Promise<VerifyingKey | undefined> {
  try {
    const key = await createLocalJWKSet({ keys: [jwk] })({ alg: algorithm });
    const { modulusLength = RSA_BITS_MIN } = key.algorithm as { readonly modulusLength?: number };
    if (modulusLength < RSA_BITS_MIN) return undefined;
    const kid = typeof jwk.kid === 'string' ? jwk.kid : undefined;
    const id = JSON.stringify([algorithm, kid, await calculateJwkThumbprint(jwk)]);
    return Object.freeze({ id, kid, algorithm, key });
  } catch {
    return undefined;
  }
}
