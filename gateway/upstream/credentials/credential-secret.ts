// The secret of a credential as it is stored: reads it, parses it, and says why it cannot be used.

import { type CredentialSettings, type ParsedCredential, parseCredential } from './credential-kinds.ts';

/** Shortest interval between two reads of the secret while the credential works. */
const READ_EVERY_MS = 250;

export interface SecretSource {
  /** Returns the current value of an entry of the secrets; undefined if it is missing. May throw. */
  readSecret(entry: string): string | undefined;
  /** When the entry was last written, in any unit; undefined if that is not known. May throw. */
  secretWrittenAt(entry: string): number | undefined;
  /** Epoch milliseconds. */
  now(): number;
}

/** Why there is no secret. */
export type SecretFault = 'absent' | 'unusable';

export class CredentialSecret {
  /** The fault found by the last read. */
  fault: SecretFault | undefined;
  readonly #settings: CredentialSettings;
  readonly #source: SecretSource;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(settings: CredentialSettings, source: SecretSource) {
    this.#settings = settings;
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
      return this.#source.secretWrittenAt(this.#settings.secret);
    } catch {
      return undefined;
    }
  }

  #readParsed(): ParsedCredential | SecretFault {
    try {
      const text = this.#source.readSecret(this.#settings.secret);
      if (text === undefined) return 'absent';
      return parseCredential(text.replace(/\r?\n$/, ''), this.#settings) ?? 'unusable';
    } catch {
      return 'unusable';
    }
  }
}
