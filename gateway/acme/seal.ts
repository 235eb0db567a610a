// Encrypts private keys for the certificate store. The encryption key is derived from the secrets entry `certificate_key`.

import { REAL_MACHINE } from '../shared/machine.ts';
import { createTextSeal, type TextSeal } from '../shared/stores/seal.ts';

/**
 * Creates the functions that encrypt and decrypt. Decryption throws an Error for operators.
 *
 * @param secret the entry `certificate_key`: any text of at least 16 characters
 */
export function createSeal(secret: string, machine = REAL_MACHINE): TextSeal {
  const seal = createTextSeal(secret, 'gateway certificate keys', machine);
  return {
    ...seal,
    open(sealed, record) {
      try {
        return seal.open(sealed, record);
      } catch (cause) {
        throw new Error(
          `The private key in the record "${record}" cannot be decrypted: it was sealed with another certificate_key, or was changed.`,
          { cause },
        );
      }
    },
  };
}
