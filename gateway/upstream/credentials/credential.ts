// The gateway's credential at an upstream. Upstreams may lock out a client after repeated failures, so a refused secret is not sent again:
// the credential is latched until the secret changes, a probe succeeds or an operator asks. latch.ts has the table of its states. Throws
// upstream_auth_failed.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../../errors.ts';
import type { CredentialHeader, CredentialSettings } from './credential-kinds.ts';
import { CredentialSecret, type SecretFault, type SecretSource } from './credential-secret.ts';
import { Latch, type LatchOptions } from './latch.ts';

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
  /** Called once when the credential gets latched, possibly during its creation. */
  onLatched(upstream: string, reason: LatchReason): void;
  /** Called once when requests are sent again: the secret has changed, a probe was accepted, or an operator asked. */
  onHealed(upstream: string): void;
}

export class Credential {
  readonly #upstream: string;
  readonly #options: CredentialOptions;
  readonly #secret: CredentialSecret;
  readonly #logins = new LoginDigests();
  readonly #latch: Latch;
  /**
   * The header of the last secret that could be parsed. It is kept while the secret is missing: if the same refused secret returns, it is
   * recognized and not sent again.
   */
  #current: CredentialHeader | undefined;
  #isReportedLatched = false;

  /** Reads the secret immediately: a credential without a secret starts latched. */
  constructor(upstream: string, settings: CredentialSettings, options: CredentialOptions) {
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
    const header = this.#current as CredentialHeader;
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
    this.#latch.beginAnew();
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

  status(): 'unproven' | 'proven' | 'latched' {
    return this.#latchedBy() === undefined ? (this.#latch.state as 'unproven' | 'proven') : 'latched';
  }

  #latchedBy(): LatchReason | undefined {
    return this.#secret.fault ?? (this.#latch.state === 'refused' ? 'refused' : undefined);
  }

  #isCurrent({ name, value }: CredentialHeader): boolean {
    return value === this.#current?.value && name === this.#current.name;
  }

  #refresh(): void {
    if (this.#latchedBy() !== undefined || this.#secret.isOld()) this.#reload();
  }

  #reload(): void {
    if (this.#latch.state === 'refused') this.#latch.written(this.#secret.writtenAt());
    const found = this.#secret.read();
    // A different spelling of the same credential is not a change: the upstream would refuse it again.
    if (found !== undefined && !this.#isCurrent(found.header)) {
      this.#current = found.header;
      this.#logins.use(found.login);
      this.#latch.beginAnew();
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

/** Compares the user name and password that a client presents with the ones of a credential, in constant time. */
class LoginDigests {
  /** A key that is random for each process, so that an attacker cannot choose the first bytes of a digest. */
  readonly #key = randomBytes(32);
  /** Digests to compare with if clients cannot present a login, so that the comparison takes the same time. */
  readonly #none = { user: randomBytes(32), password: randomBytes(32) };
  #own: { readonly user: Buffer; readonly password: Buffer } = this.#none;

  /** @param login undefined if clients cannot present the credential */
  use(login: { readonly user: string; readonly password: string } | undefined): void {
    this.#own = login
      ? { user: this.#digestOf(nameOf(login.user)), password: this.#digestOf(login.password) }
      : this.#none;
  }

  /**
   * Compares a login. Case of the user name and spaces around it do not count.
   *
   * @param isUsable false if the credential has no secret at present: nothing matches
   */
  match(user: string, password: string, isUsable: boolean): boolean {
    const own = isUsable ? this.#own : this.#none;
    // Always compares both digests, of equal length: the time reveals neither which part was wrong nor how much of it was right.
    const isUser = timingSafeEqual(this.#digestOf(nameOf(user)), own.user);
    const isPassword = timingSafeEqual(this.#digestOf(password), own.password);
    return isUser && isPassword;
  }

  #digestOf(text: string): Buffer {
    return createHmac('sha256', this.#key).update(text).digest();
  }
}

function nameOf(user: string): string {
  return user.trim().toLowerCase();
}
