// Encrypts private keys for the store: AES-256-GCM under a key that is derived from the secrets entry `certificate_key`. The name of the
// record is authenticated too, so that a key cannot be moved to another record.

import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { realMachine } from '../shared/machine.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface Seal {
  /** Equal for equal secrets; tells nothing about the secret. */
  readonly fingerprint: string;
  /** @param record the name of the record that holds the text */
  seal(text: string, record: string): string;
  /** Throws a sentence if the text was sealed with another secret or for another record, or was changed. */
  open(sealed: string, record: string): string;
}

/** @param secret the entry `certificate_key`: any text of at least 16 characters */
export function createSeal(secret: string, { randomBytes } = realMachine): Seal {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'gateway certificate keys', 32));
  return {
    fingerprint: createHmac('sha256', key).update('fingerprint').digest('base64url').slice(0, 16),
    seal(text, record) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(record));
      const parts = [nonce, cipher.update(text, 'utf8'), cipher.final()];
      return Buffer.concat([...parts, cipher.getAuthTag()]).toString('base64');
    },
    open(sealed, record) {
      try {
        const bytes = Buffer.from(sealed, 'base64');
        const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
        decipher.setAAD(Buffer.from(record)).setAuthTag(bytes.subarray(-TAG_BYTES));
        const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new Error(
          `The private key in the record "${record}" cannot be decrypted: it was sealed with another certificate_key, or was changed.`,
          { cause },
        );
      }
    },
  };
}
