// Base62 text: random identifiers without modulo bias, and numbers of a fixed width.

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Largest multiple of 62 that fits a byte: higher bytes are thrown away, so that every character is equally likely. */
const ACCEPTED_BELOW = 248;

export type RandomBytes = (size: number) => Uint8Array;

/** That many characters, each equally likely. */
export function randomBase62(length: number, randomBytes: RandomBytes): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length + 8)) {
      if (byte < ACCEPTED_BELOW && text.length < length) text += ALPHABET[byte % 62];
    }
  }
  return text;
}

/** A non-negative integer, padded on the left with `0`. */
export function toBase62(number: number, width: number): string {
  let text = '';
  for (let rest = number; rest > 0; rest = Math.floor(rest / 62)) text = ALPHABET[rest % 62] + text;
  return text.padStart(width, '0');
}
