// The secret of a credential as it is stored: reads it, parses it, and says why it cannot be used.

import type { ParsedCredential } from './credential-kinds.ts';

/** Shortest interval between two reads of the secret while the credential works. */
const READ_EVERY_MS = 250;

export interface SecretSource {
  /** The current secret; undefined if it is missing. May throw. */
  read(): string | undefined;
  /** When the secret was last written, in any unit; undefined if that is not known. May throw. */
  writtenAt?(): number | undefined;
  /** Parses the secret; undefined if it cannot be used. */
  parse(secret: string): ParsedCredential | undefined;
  /** Epoch milliseconds. */
  now(): number;
}

/** Why there is no secret. */
export type SecretFault = 'absent' | 'unusable';

export class CredentialSecret {
  /** The fault found by the last read. */
  fault: SecretFault | undefined;
  readonly #source: SecretSource;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(source: SecretSource) {
    this.#source = source;
  }

  /** Reads the secret. Returns undefined and sets `fault` if there is no usable one. */
  read(): ParsedCredential | undefined {
    this.#readAtMs = this.#source.now();
    const found = this.#readParsed();
    this.fault = typeof found === 'string' ? found : undefined;
    return typeof found === 'string' ? undefined : found;
  }

  /** Whether the last read was some time ago. Also true after the clock was set back. */
  isOld(): boolean {
    const ageMs = this.#source.now() - this.#readAtMs;
    return ageMs < 0 || ageMs >= READ_EVERY_MS;
  }

  /** When the secret was last written; undefined if that cannot be known. */
  writtenAt(): number | undefined {
    try {
      return this.#source.writtenAt?.();
    } catch {
      return undefined;
    }
  }

  #readParsed(): ParsedCredential | SecretFault {
    try {
      const text = this.#source.read();
      return text === undefined ? 'absent' : (this.#source.parse(text.replace(/\r?\n$/, '')) ?? 'unusable');
    } catch {
      return 'unusable';
    }
  }
}
