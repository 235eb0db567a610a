// The secrets entry assertion_keys, which is a JWK Set (RFC 7517) of private Ed25519 keys, optionally with a period of use. Error messages
// never contain a value.

import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';

/**
 * A private Ed25519 key as JWK. signs_from and published_until, in epoch seconds, are the gateway's own members, which RFC 7517
 * section 4 allows.
 */
export interface Ed25519Jwk {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly d: string;
  /** The time from which the key may sign; undefined if it always may. */
  readonly signs_from?: number;
  /** The time until which the key may sign and is published; undefined if it has no end. */
  readonly published_until?: number;
}

/** The year 5138. A larger value is probably in milliseconds. */
const SECONDS_MAX = 99_999_999_999;

export function newAssertionKey(): Ed25519Jwk {
  const { x, d } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return { kty: 'OKP', crv: 'Ed25519', x: x as string, d: d as string };
}

export function printAssertionKeys(keys: readonly Ed25519Jwk[]): string {
  return JSON.stringify({ keys });
}

/** Throws an Error whose message names the fault and never quotes the text. */
export function parseAssertionKeys(text: string): readonly Ed25519Jwk[] {
  const wrong = (what: string) => new Error(`The secrets entry assertion_keys is malformed: ${what}.`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The parser's message quotes the text, so it must not be passed on.
    throw wrong('it is not JSON');
  }
  const keys = (parsed as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(keys) || keys.length === 0) throw wrong('it is not a JWK Set with at least one key');
  const known = new Set<string>();
  const result = keys.map((key: unknown, index) => {
    if (!isEd25519Jwk(key)) throw wrong(`key ${index + 1} is not a private Ed25519 key whose halves belong together`);
    // With two keys with the same id, a verifier could not choose.
    if (known.has(key.x)) throw wrong(`key ${index + 1} is a duplicate`);
    known.add(key.x);
    const fault = faultInTimes(key);
    if (fault !== undefined) throw wrong(`key ${index + 1} has ${fault}`);
    return ownMembersOf(key);
  });
  return Object.freeze(result);
}

function isEd25519Jwk(key: unknown): key is Ed25519Jwk {
  const { kty, crv, x, d } = (key ?? {}) as Partial<Record<string, unknown>>;
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string' || typeof d !== 'string') return false;
  try {
    return (
      createPublicKey(createPrivateKey({ key: { kty, crv, x, d }, format: 'jwk' })).export({ format: 'jwk' }).x === x
    );
  } catch {
    return false;
  }
}

function faultInTimes({ signs_from: from = 0, published_until: until = SECONDS_MAX }: Ed25519Jwk): string | undefined {
  const isMoment = (value: unknown) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= SECONDS_MAX;
  if (!isMoment(from)) return 'a signs_from that is no whole number of epoch seconds';
  if (!isMoment(until)) return 'a published_until that is no whole number of epoch seconds';
  return until <= from ? 'a published_until that is not after its signs_from' : undefined;
}

/** Returns the key without other members, which have no meaning here. */
function ownMembersOf({ kty, crv, x, d, signs_from, published_until }: Ed25519Jwk): Ed25519Jwk {
  return Object.freeze({
    kty,
    crv,
    x,
    d,
    ...(signs_from !== undefined && { signs_from }),
    ...(published_until !== undefined && { published_until }),
  });
}
