// The keys that an issuer publishes (RFC 7517): those that tokens may be verified with, and nothing else.

import { type CryptoKey, calculateJwkThumbprint, createLocalJWKSet, type JWK } from 'jose';

/** An issuer has a few. Importing thousands would hold everybody up. */
const KEYS_MAX = 100;
const RSA_BITS_MIN = 2048;

export interface VerifyingKey {
  /** The same for the same key under the same name and algorithm, in every set it is in. */
  readonly id: string;
  readonly kid: string | undefined;
  readonly algorithm: string;
  readonly key: CryptoKey;
}

export interface KeySet {
  /** One for each algorithm that a key may be used with. */
  readonly keys: readonly VerifyingKey[];
  readonly ids: ReadonlySet<string>;
}

export type FoundIssuerKey =
  | { readonly outcome: 'found'; readonly key: VerifyingKey }
  /** No key has this name, or without a name none fits: a newer set might have one. */
  | { readonly outcome: 'unknown' }
  /** The name belongs to a key that does not fit, or several fit. */
  | { readonly outcome: 'unfit' };

/** The text of a JWK Set → what of it can be used with these algorithms. Rejects with a sentence if it is none, or nothing can. */
export async function toKeySet(text: string, algorithms: readonly string[]): Promise<KeySet> {
  const candidates = parse(text).flatMap((jwk) => algorithms.map((algorithm) => toVerifyingKey(jwk, algorithm)));
  const keys = (await Promise.all(candidates)).filter((key) => key !== undefined);
  if (keys.length === 0) throw new Error('it names no key that tokens can be verified with');
  return Object.freeze({ keys: Object.freeze(keys), ids: new Set(keys.map(({ id }) => id)) });
}

export function isSameKeySet(one: KeySet | undefined, other: KeySet): boolean {
  return one?.ids.size === other.ids.size && [...other.ids].every((id) => one.ids.has(id));
}

/** The key a token is to be verified with. One that does not name its key gets the only one that fits. */
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
 * Undefined for a key that is not for this: of another type or curve, for encryption (`use`), not for verifying (`key_ops`), for another
 * algorithm (`alg`), private, malformed or too short. Sets hold keys for other purposes too, so these are passed over (RFC 7517 section 5).
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
