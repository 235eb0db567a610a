// The form of an API key, `sk_<live|test>_<32 random><6 checksum>`: made, recognised without a look-up, and turned into the digest that is stored.

import { createHmac } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Mode } from '../exchange.ts';
import { type RandomBytes, randomBase62, toBase62 } from './base62.ts';

const FORM = /^sk_(live|test)_[0-9A-Za-z]{38}$/;
const RANDOM_LENGTH = 32;
const CHECK_LENGTH = 6;
export const API_KEY_LENGTH = 'sk_live_'.length + RANDOM_LENGTH + CHECK_LENGTH;

/** What may be shown of a key: enough for its owner to recognise it. */
export interface KeyDisplay {
  readonly prefix: string;
  readonly lastFour: string;
}

export type DigestOf = (key: string) => string;

/** A new key. It exists nowhere else: whoever loses it needs another one. */
export function createApiKey(mode: Mode, randomBytes: RandomBytes): string {
  const unchecked = `sk_${mode}_${randomBase62(RANDOM_LENGTH, randomBytes)}`;
  return unchecked + checkOf(unchecked);
}

/** The mode a key claims, or undefined if this is no key. The checksum finds typing mistakes; it proves nothing. */
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

/** Key → what the store knows it by. Without the pepper, a stolen store cannot even confirm a key somebody guessed. */
export function createDigestOf(pepper: string): DigestOf {
  return function digestOf(key) {
    return createHmac('sha256', pepper).update(key).digest('base64url');
  };
}

/** Tells whether two processes use one pepper, without revealing it: the digest of a text that can never be a key. */
export function keyFingerprint(digestOf: DigestOf): string {
  return digestOf('fingerprint of the pepper');
}

/** Covers the prefix too, so that `live` and `test` cannot be swapped by hand. */
function checkOf(unchecked: string): string {
  return toBase62(crc32(unchecked), CHECK_LENGTH);
}
