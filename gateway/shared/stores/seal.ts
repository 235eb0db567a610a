// Encrypts texts for stores that others may read, with AES-256-GCM and a key that is derived from a secret. The name of the record is
// authenticated, too, so that a text cannot be moved to another record. A key ring encrypts with its first key, and decrypts with all keys.

import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { REAL_MACHINE } from '../machine.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

type RandomBytes = Pick<typeof REAL_MACHINE, 'randomBytes'>;

export interface TextSeal {
  /** The fingerprint is equal for equal secrets, and reveals nothing about the secret. */
  readonly fingerprint: string;
  /** @param record the name of the record that holds the text */
  seal(text: string, record: string): string;
  /** Throws if the text was sealed with another secret or for another record, or was changed. */
  open(sealed: string, record: string): string;
}

/** @param purpose separates the keys that uses derive from one secret (the `info` of RFC 5869) */
export function createTextSeal(secret: string, purpose: string, { randomBytes }: RandomBytes = REAL_MACHINE): TextSeal {
  const key = Buffer.from(hkdfSync('sha256', secret, '', purpose, KEY_BYTES));
  return {
    fingerprint: createHmac('sha256', key).update('fingerprint').digest('base64url').slice(0, 16),
    seal(text, record) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(record));
      const parts = [nonce, cipher.update(text, 'utf8'), cipher.final()];
      return Buffer.concat([...parts, cipher.getAuthTag()]).toString('base64');
    },
    open(sealed, record) {
      const bytes = Buffer.from(sealed, 'base64');
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(record)).setAuthTag(bytes.subarray(-TAG_BYTES));
      const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    },
  };
}

export interface KeyRing {
  /** @param record the name of the record that holds the text */
  seal(text: string, record: string): string;
  /** Throws if no key of the ring has sealed the text for this record, or if it was changed. */
  open(sealed: string, record: string): string;
}

/**
 * Creates a key ring. A sealed text begins with the fingerprint of its key, so that keys can be rotated. To rotate, put the new key first,
 * and remove the old key when no text is sealed with it.
 *
 * @param secrets returns the current secrets, for each text. The first secret seals. The ring derives new keys when the array is another
 * one
 * @param purpose see `createTextSeal`
 */
export function createKeyRing(
  secrets: () => readonly string[],
  purpose: string,
  machine: RandomBytes = REAL_MACHINE,
): KeyRing {
  let derivedFrom: readonly string[] = [];
  let seals: readonly TextSeal[] = [];

  function currentSeals(): readonly TextSeal[] {
    const now = secrets();
    if (now.join('\n') !== derivedFrom.join('\n')) {
      derivedFrom = [...now];
      seals = now.map((secret) => createTextSeal(secret, purpose, machine));
    }
    return seals;
  }

  return {
    seal(text, record) {
      const [first] = currentSeals();
      if (first === undefined) throw new Error('There is no key to seal with.');
      return `${first.fingerprint}.${first.seal(text, record)}`;
    },
    open(sealed, record) {
      const [fingerprint = '', content = ''] = sealed.split('.', 2);
      const found = currentSeals().find((one) => one.fingerprint === fingerprint);
      if (found === undefined)
        throw new Error(`The key ${fingerprint.slice(0, 16)} that sealed "${record}" is not known.`);
      return found.open(content, record);
    },
  };
}
