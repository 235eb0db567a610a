// The secret of a credential as it is stored. It is read again from time to time, because operators change it while the gateway runs.

import type { CredentialFault } from '../../shared/contracts/upstreams.ts';
import type { CredentialSettings } from '../settings.ts';
import { type CredentialHeader, type ParsedCredential, parseCredential } from './credential-kinds.ts';

/** Shortest interval between two reads of the secret while the credential works. */
const READ_EVERY_MS = 250;

/** The source of the secret: config/secrets.ts, or wiring/upstream-access.ts for a simulated upstream. */
export interface SecretSource {
  /** Returns the current value of an entry of the secrets; undefined if it is missing. May throw. */
  readSecret(entry: string): string | undefined;
  /** Returns the time at which the entry was last written, in any unit; undefined if it is unknown. May throw. */
  secretWrittenAt(entry: string): number | undefined;
  /** Epoch milliseconds. */
  now(): number;
}

/** The reason why there is no usable secret. */
type SecretFault = Exclude<CredentialFault['reason'], 'refused'>;

export class CredentialSecret {
  /** The result of the last read. */
  lastRead: ParsedCredential | SecretFault = 'absent';
  /** Why it could not be read. */
  detail: string | undefined;
  /**
   * The last secret that could be parsed. It stays here while the secret is missing. Otherwise a refused secret that is removed and
   * restored would look like a new secret and be sent again.
   */
  #last: ParsedCredential | undefined;
  readonly #settings: CredentialSettings;
  readonly #source: SecretSource;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(settings: CredentialSettings, source: SecretSource) {
    this.#settings = settings;
    this.#source = source;
  }

  /**
   * Reads the secret, and returns it if it is new. Another spelling of the same credential is not new, because the upstream would refuse it
   * like the first spelling.
   */
  readNext(): ParsedCredential | undefined {
    this.#readAtMs = this.#source.now();
    const found = this.#read();
    this.lastRead = found;
    if (typeof found === 'string') return undefined;
    if (this.#last?.identity === found.identity) {
      this.lastRead = this.#last;
      return undefined;
    }
    this.#last = found;
    return found;
  }

  /** Whether this is the header of the last secret. */
  isLast({ fields }: CredentialHeader): boolean {
    return fields.join('\n') === this.#last?.header.fields.join('\n');
  }

  /** Whether the last read was some time ago. Returns true after the clock was set back. */
  isOld(): boolean {
    const ageMs = this.#source.now() - this.#readAtMs;
    return ageMs < 0 || ageMs >= READ_EVERY_MS;
  }

  get entry(): string {
    return this.#settings.secret;
  }

  /** Returns the time at which the secret was last written; undefined if it cannot be known. */
  writtenAt(): number | undefined {
    try {
      return this.#source.secretWrittenAt(this.entry);
    } catch {
      return undefined;
    }
  }

  #read(): ParsedCredential | SecretFault {
    this.detail = undefined;
    try {
      const text = this.#source.readSecret(this.entry);
      if (text === undefined) return 'absent';
      return parseCredential(text.replace(/\r?\n$/, ''), this.#settings) ?? 'unusable';
    } catch (error) {
      this.detail = (error as Error).message;
      return 'unusable';
    }
  }
}
