// The gateway's credential at an upstream. Upstreams may lock out a client after repeated failures, so a refused secret is not sent again.
// The credential is latched until the secret changes, a probe succeeds or an operator asks (latch.ts). Throws upstream_auth_failed.

import { GatewayError } from '../../catalogue/errors.ts';
import type { CredentialState } from '../../shared/contracts/upstreams.ts';
import { credentialFieldOf } from '../../shared/http/owned-headers.ts';
import {
  type CredentialHeader,
  type CredentialSettings,
  type ParsedCredential,
  parseCredential,
} from './credential-kinds.ts';
import { Latch, type LatchOptions } from './latch.ts';
import { LoginDigests } from './login-digests.ts';

/** Shortest interval between two reads of the secret while the credential works. */
const READ_EVERY_MS = 250;

/** config/secrets.ts, and for simulated upstreams wiring/upstream-access.ts */
interface SecretSource {
  /** Returns the current value of an entry of the secrets; undefined if it is missing. May throw. */
  readSecret(entry: string): string | undefined;
  /** When the entry was last written, in any unit; undefined if that is not known. May throw. */
  secretWrittenAt(entry: string): number | undefined;
  /** Epoch milliseconds. */
  now(): number;
}

/** Why there is no secret. */
type SecretFault = 'absent' | 'unusable';

/**
 * Why the credential is latched: the upstream refused the secret, the secret is missing, or it cannot be parsed as its kind demands.
 */
type LatchReason = 'refused' | SecretFault;

const causes: Readonly<Record<LatchReason, string>> = {
  refused: 'the upstream refused the credential, and the secret has not changed since',
  absent: 'the secret of the credential is missing',
  unusable: 'the secret of the credential cannot be parsed',
};

export interface CredentialOptions extends SecretSource, LatchOptions {
  /** Called once when the credential gets latched, possibly during its creation. wiring/upstream-access.ts logs it */
  onLatched(upstream: string, reason: LatchReason): void;
  /** Called once when requests are sent again: the secret has changed, a probe was accepted, or an operator asked. */
  onHealed(upstream: string): void;
}

export class Credential {
  /** The field that carries it, in lower case. */
  readonly headerName: string;
  readonly #upstream: string;
  readonly #options: CredentialOptions;
  readonly #secret: CredentialSecret;
  readonly #logins = new LoginDigests();
  readonly #latch: Latch;
  /**
   * The last secret that could be parsed. It is kept while the secret is missing: if the same refused secret returns, it is recognized and
   * not sent again.
   */
  #current: ParsedCredential | undefined;
  #isReportedLatched = false;

  /** Reads the secret immediately: a credential without a secret starts latched. */
  constructor(upstream: string, settings: CredentialSettings, options: CredentialOptions) {
    this.headerName = credentialFieldOf(settings);
    this.#upstream = upstream;
    this.#options = options;
    this.#secret = new CredentialSecret(settings, options);
    this.#latch = new Latch(upstream, options, () => this.#report());
    this.#reload();
  }

  /**
   * Returns the header for the upstream. While latched, it reads the secret again first. Throws upstream_auth_failed if it is still
   * latched.
   */
  header(): CredentialHeader {
    this.#refresh();
    const reason = this.#latchedBy();
    // Without a secret that can be parsed there is no header. The credential is then latched, so `header` below is not returned.
    const header = this.#current?.header as CredentialHeader;
    if (reason === undefined) return header;
    const probe = reason === 'refused' ? this.#latch.probe(header) : undefined;
    if (probe === undefined) throw new GatewayError('upstream_auth_failed', { cause: new Error(causes[reason]) });
    return probe;
  }

  /**
   * Asks for a probe if the credential is latched and a probe may be due. Resolves when `header` knows whether it may send one; never
   * rejects. Returns undefined if there is nothing to wait for.
   */
  awaitReady(): Promise<void> | undefined {
    return this.#latch.askIfDue();
  }

  /** Sends a refused secret again, as if it were new. Returns false if the credential is not latched by a refusal. */
  retry(): boolean {
    if (this.#latch.state !== 'refused') return false;
    this.#latch.becomeUnproven();
    this.#reload();
    return true;
  }

  /** True if the upstream has accepted the current secret. Until then only one request at a time is sent. */
  isProven(): boolean {
    return this.#latchedBy() === undefined && this.#latch.state === 'proven';
  }

  /** Call it when the upstream has accepted this header. */
  accepted(header: CredentialHeader): void {
    if (this.#isCurrent(header) && this.#latch.accepted(header)) this.#report();
  }

  /**
   * Call it when the upstream has refused this header, with this status. Returns true if the secret has changed since the header was made,
   * so that a retry makes sense; false if the credential is latched.
   */
  refused(header: CredentialHeader, status: number): boolean {
    this.#latch.answered(header);
    // A refusal of a replaced secret does not concern the current one.
    if (this.#isCurrent(header)) this.#reload();
    if (this.#isCurrent(header)) this.#latch.refused(status, this.#secret.writtenAt());
    this.#report();
    return this.#latchedBy() === undefined;
  }

  /** True if a client presents this credential as user name and password. Runs in constant time. */
  matches(user: string, password: string): boolean {
    // Reload before the comparison: a replaced password must stop working, and guesses must not cause reads of their own.
    this.#refresh();
    return this.#logins.match(user, password, this.#secret.fault === undefined);
  }

  status(): CredentialState {
    return this.#latchedBy() === undefined ? (this.#latch.state as 'unproven' | 'proven') : 'latched';
  }

  #latchedBy(): LatchReason | undefined {
    return this.#secret.fault ?? (this.#latch.state === 'refused' ? 'refused' : undefined);
  }

  #isCurrent({ name, value }: CredentialHeader): boolean {
    const current = this.#current?.header;
    return value === current?.value && name === current.name;
  }

  #refresh(): void {
    if (this.#latchedBy() !== undefined || this.#secret.isOld()) this.#reload();
  }

  #reload(): void {
    if (this.#latch.state === 'refused') this.#latch.written(this.#secret.writtenAt());
    const found = this.#secret.read();
    // A different spelling of the same credential is not a change: the upstream would refuse it again.
    if (found !== undefined && found.identity !== this.#current?.identity) {
      this.#current = found;
      this.#logins.use(found.login);
      this.#latch.becomeUnproven();
    }
    this.#report();
  }

  #report(): void {
    const reason = this.#latchedBy();
    if ((reason !== undefined) === this.#isReportedLatched) return;
    this.#isReportedLatched = reason !== undefined;
    if (reason === undefined) this.#options.onHealed(this.#upstream);
    else this.#options.onLatched(this.#upstream, reason);
  }
}

/** The secret as it is stored. */
class CredentialSecret {
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
