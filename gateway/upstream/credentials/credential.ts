// The gateway's credential at an upstream. An upstream may lock out a client after repeated failed logins, so a refused secret is not sent
// again: the credential is latched until the secret changes, a probe succeeds, or an operator asks for a retry (latch.ts). Throws
// upstream_auth_failed.

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

/** Where the secret is stored: config/secrets.ts, or wiring/upstream-access.ts for a simulated upstream. */
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

/** Why the credential is latched: the upstream refused the secret, the secret is missing, or it cannot be parsed as its kind demands. */
type LatchReason = 'refused' | SecretFault;

const causes: Readonly<Record<LatchReason, string>> = {
  refused: 'the upstream refused the credential, and the secret has not changed since',
  absent: 'the secret of the credential is missing',
  unusable: 'the secret of the credential cannot be parsed',
};

export interface CredentialOptions extends SecretSource, LatchOptions {
  /** Called once when the credential gets latched, possibly during its creation. wiring/upstream-access.ts logs it */
  onLatched(upstream: string, reason: LatchReason): void;
  /** Called once when the latch has opened: the secret has changed, a probe was accepted, or an operator asked for a retry. */
  onHealed(upstream: string): void;
}

export class Credential {
  /** The header field that carries the credential, in lower case. */
  readonly headerName: string;
  readonly #upstream: string;
  readonly #options: CredentialOptions;
  readonly #secret: CredentialSecret;
  readonly #logins = new LoginDigests();
  readonly #latch: Latch;
  /**
   * The last secret that could be parsed. It stays here while the secret is missing. Without it, a refused secret that is removed and
   * restored would look like a new secret and be sent again.
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
   * Returns the header for the upstream. If the credential is latched, reads the secret again first. Throws upstream_auth_failed if the
   * credential is still latched.
   *
   * @param mayProbe false for an operation that needs no credential: as a probe, its success would say nothing
   */
  header(mayProbe: boolean): CredentialHeader {
    this.#refresh();
    const reason = this.#latchedBy();
    // `#current` is undefined only if the secret was never readable. The credential is then latched, so this undefined header is never
    // returned.
    const header = this.#current?.header as CredentialHeader;
    if (reason === undefined) return header;
    const probe = reason === 'refused' && mayProbe ? this.#latch.probe(header) : undefined;
    if (probe === undefined) throw new GatewayError('upstream_auth_failed', { cause: new Error(causes[reason]) });
    return probe;
  }

  /**
   * Returns a promise to wait for before `header` is called; undefined if there is nothing to wait for. If the credential is latched and a
   * probe may be due, the promise resolves when the schedule of the probes has answered or has failed. It never rejects.
   */
  awaitHeader(): Promise<void> | undefined {
    return this.#latch.askIfDue();
  }

  /** Lets a refused secret be sent again, as if it were new. Returns false if the credential is not latched by a refusal. */
  forgetRefusal(): boolean {
    if (this.#latch.state !== 'refused') return false;
    this.#latch.becomeUnproven();
    this.#reload();
    return true;
  }

  /** True once the upstream has accepted a request with the current secret. Until then only one request at a time is sent. */
  sendsSeveral(): boolean {
    return this.#latchedBy() === undefined && this.#latch.sendsSeveral;
  }

  /**
   * Call it when the upstream has accepted a request with this header.
   *
   * @param isProof false for an operation that needs no credential
   */
  accepted(header: CredentialHeader, isProof: boolean): void {
    if (this.#isCurrent(header) && this.#latch.accepted(header, isProof)) this.#report();
  }

  /**
   * Call it when the upstream has refused this header with this status. Returns true if the secret has changed since the header was made:
   * repeat the request then, with the new secret. Returns false if the credential is now latched.
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
    // The secret is reloaded before the comparison, so that a replaced password stops working. `#refresh` bounds how often the secret is
    // read, so that many guesses do not cause many reads.
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
    // Another spelling of the same credential does not count as a change: the upstream would refuse it like the first one.
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
