// Base62 text: random identifiers without modulo bias, and integers of a fixed width.

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** The largest multiple of 62 that fits a byte. Higher bytes are discarded, because all characters must be equally likely. */
const ACCEPTED_BELOW = 248;

export type RandomBytes = (size: number) => Uint8Array;

/** Returns `length` random characters, each equally likely. */
export function randomBase62(length: number, randomBytes: RandomBytes): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length + 8)) {
      if (byte < ACCEPTED_BELOW && text.length < length) text += ALPHABET[byte % 62];
    }
  }
  return text;
}

/** Writes a non-negative integer in base 62, padded on the left with `0`. */
export function toBase62(number: number, width: number): string {
  let text = '';
  for (let rest = number; rest > 0; rest = Math.floor(rest / 62)) text = ALPHABET[rest % 62] + text;
  return text.padStart(width, '0');
}
