// API keys consist of `sk_live_` or `sk_test_`, 32 random characters, and 6 characters of checksum. Creates keys, recognises well-formed
// keys without a look-up, and computes the digest that is stored.

import { createHmac } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Mode } from '../exchange/caller.ts';
import { type RandomBytes, randomBase62, toBase62 } from './base62.ts';

const FORM = /^sk_(live|test)_[0-9A-Za-z]{38}$/;
const RANDOM_LENGTH = 32;
const CHECK_LENGTH = 6;
export const API_KEY_LENGTH = 'sk_live_'.length + RANDOM_LENGTH + CHECK_LENGTH;

/** The parts of a key that may be displayed, so that its owner can recognise it. */
interface KeyDisplay {
  readonly prefix: string;
  readonly lastFour: string;
}

export type DigestOf = (key: string) => string;

/** Creates a key. The key is stored nowhere, so a lost key cannot be recovered, only replaced. */
export function createApiKey(mode: Mode, randomBytes: RandomBytes): string {
  const unchecked = `sk_${mode}_${randomBase62(RANDOM_LENGTH, randomBytes)}`;
  return unchecked + checkOf(unchecked);
}

/** Returns the mode in the key's prefix, or undefined if the text is not a key. The checksum detects typing mistakes; it proves nothing. */
export function parseApiKey(text: string): Mode | undefined {
  if (text.length !== API_KEY_LENGTH) return undefined;
  const mode = FORM.exec(text)?.[1];
  if (mode === undefined) return undefined;
  const end = API_KEY_LENGTH - CHECK_LENGTH;
  return checkOf(text.slice(0, end)) === text.slice(end) ? (mode as Mode) : undefined;
}

export function displayOf(key: string): KeyDisplay {
  return { prefix: key.slice(0, 'sk_live_'.length + 4), lastFour: key.slice(-4) };
}

/** Computes the digest under which the store keeps a key. Without the pepper, a stolen store cannot even confirm a guessed key. */
export function createDigestOf(pepper: string): DigestOf {
  return function digestOf(key) {
    return createHmac('sha256', pepper).update(key).digest('base64url');
  };
}

/**
 * Returns a fingerprint of the pepper: the digest of a text that is never a key. Two processes can compare their fingerprints, which reveal
 * nothing.
 */
export function keyFingerprint(digestOf: DigestOf): string {
  return digestOf('fingerprint of the pepper');
}

/** Returns the checksum of a key. It covers the prefix, too, so a key with `live` in place of `test` is malformed. */
function checkOf(unchecked: string): string {
  return toBase62(crc32(unchecked), CHECK_LENGTH);
}
