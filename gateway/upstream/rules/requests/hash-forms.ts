// Recognises secrets that may be stored as they are (hashes of strong schemes, enrolments of one-time passwords), as opposed to plain-text
// passwords. The whole text must match, because a password may begin like a hash.

/** Radix-64 of PHC strings and of crypt(3). */
const B64 = '[A-Za-z0-9+/]';
const CRYPT64 = '[A-Za-z0-9./]';

const HASH_FORMS: readonly RegExp[] = [
  // PHC strings (github.com/P-H-C/phc-string-format). The costs are bounded here and below, because a login with such a hash would
  // otherwise take all memory or minutes of CPU.
  new RegExp(
    `^\\$argon2(?:i|d|id)\\$(?:v=\\d\\d\\$)?m=\\d{1,6},t=\\d{1,2},p=\\d{1,2}\\$${B64}{11,64}\\$${B64}{22,86}$`,
  ),
  new RegExp(`^\\$scrypt\\$ln=(?:1\\d|20),r=[1-9],p=\\d{1,2}\\$${B64}{11,64}\\$${B64}{22,86}$`),
  new RegExp(`^\\$pbkdf2(?:-sha256|-sha512)?\\$i=\\d{4,7}(?:,l=\\d{2,3})?\\$${B64}{11,64}\\$${B64}{27,86}$`),
  // crypt(5): bcrypt, SHA-512, SHA-256.
  new RegExp(`^\\$2[aby]\\$(?:0[4-9]|1[0-6])\\$${CRYPT64}{53}$`),
  new RegExp(`^\\$6\\$(?:rounds=\\d{4,7}\\$)?${CRYPT64}{1,16}\\$${CRYPT64}{86}$`),
  new RegExp(`^\\$5\\$(?:rounds=\\d{4,7}\\$)?${CRYPT64}{1,16}\\$${CRYPT64}{43}$`),
  // The key URI of authenticator apps, including its secret.
  /^otpauth:\/\/totp\/[^\s?#]+\?(?:[^\s#]*&)?secret=[A-Za-z2-7]{16,128}=*(?:&[^\s#]*)?$/,
];

/**
 * Schemes in braces (RFC 2307 section 5.3 and its successors), with the bytes of their digests. With `SS…`, a salt of at least 4 bytes
 * follows.
 */
const DIGEST_BYTES: Readonly<Record<string, number>> = { SHA256: 32, SSHA256: 32, SHA512: 64, SSHA512: 64 };
/** Schemes in braces that stand before one of the forms above. Each has a pattern for the beginning of that form. */
const BRACED_FORMS: Readonly<Record<string, RegExp>> = {
  ARGON2: /^\$argon2/,
  ARGON2I: /^\$argon2i\$/,
  ARGON2ID: /^\$argon2id\$/,
  PBKDF2: /^\$pbkdf2/,
  CRYPT: /^\$[256]/,
};

/** Whether a secret has one of these forms. Weak schemes (MD5, SHA-1, PLAIN) are not among them. */
export function isHashed(secret: string): boolean {
  const [, scheme, rest] = /^\{([A-Z0-9]{1,16})\}(.*)$/.exec(secret) ?? [];
  if (scheme !== undefined && rest !== undefined) return isBraced(scheme, rest);
  return HASH_FORMS.some((form) => form.test(secret));
}

function isBraced(scheme: string, rest: string): boolean {
  const begins = Object.hasOwn(BRACED_FORMS, scheme) ? BRACED_FORMS[scheme] : undefined;
  if (begins) return begins.test(rest) && HASH_FORMS.some((form) => form.test(rest));
  const bytes = Object.hasOwn(DIGEST_BYTES, scheme) ? DIGEST_BYTES[scheme] : undefined;
  if (bytes === undefined) return false;
  const decoded = Buffer.from(rest, 'base64');
  if (decoded.toString('base64') !== rest) return false;
  return scheme.startsWith('SS') ? decoded.length >= bytes + 4 : decoded.length === bytes;
}
