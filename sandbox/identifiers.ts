// Makes record identifiers and settles the spelling of those that clients send.

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTH = 16;
// The largest multiple of 62 in a byte: bytes from here on would make the first characters of the alphabet likelier.
const UNBIASED = 248;

/** Gives so many random bytes; in production those of node:crypto. */
export type Random = (size: number) => Uint8Array;

export function createIdentifier(prefix: string, random: Random): string {
  let characters = '';
  while (characters.length < LENGTH) {
    for (const byte of random(LENGTH + 4)) {
      if (byte < UNBIASED && characters.length < LENGTH) characters += ALPHABET[byte % ALPHABET.length];
    }
  }
  return `${prefix}_${characters}`;
}

/** Customers answer to `cust_x` as well as to `cus_x`; stored and shown is always `cus_x`. */
export function canonicalIdentifier(identifier: string): string {
  return identifier.startsWith('cust_') ? `cus_${identifier.slice(5)}` : identifier;
}
