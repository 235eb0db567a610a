// The gateway's credential at an upstream. An upstream may lock out a client after repeated failed logins, so a refused secret is not sent
// again. The credential is latched until the secret or an address changes, a probe succeeds, or an operator asks for a retry (latch.ts). If
// the secret is missing, nothing is sent either. Throws upstream_auth_failed.

import { GatewayError } from '../../catalogue/errors.ts';
import type { CredentialFault, CredentialState } from '../../shared/contracts/upstreams.ts';
import { SECRET_OF_CREDENTIAL } from '../../shared/failed-requests.ts';
import { credentialFieldsOf } from '../../shared/http/owned-headers.ts';
import type { CredentialSettings } from '../settings.ts';
import type { CredentialHeader } from './credential-kinds.ts';
import { CredentialSecret, type SecretSource } from './credential-secret.ts';
import { Latch, type LatchOptions } from './latch.ts';
import { LoginDigests } from './login-digests.ts';

type SuspendedBy = CredentialFault['reason'];

/** Why a request was not sent, for the log, by the name of the secret. */
const CAUSES: Readonly<Record<SuspendedBy, (secret: string) => string>> = {
  refused: (secret) => `the service refused the secret of the credential, ${secret}, which has not changed since`,
  absent: (secret) => `${SECRET_OF_CREDENTIAL}, ${secret}, is missing`,
  unusable: (secret) => `${SECRET_OF_CREDENTIAL}, ${secret}, is empty, unreadable or not in the form of its kind`,
};

export interface CredentialOptions extends SecretSource, LatchOptions {
  /** Called once when requests are suspended, possibly while the credential is created. wiring/upstream-access.ts logs it */
  onSuspended(upstream: string, why: SuspendedBy): void;
  /** Called once when requests can be sent again. */
  onHealed(upstream: string): void;
}

export class Credential {
  /** The header fields that carry the credential, in lower case. */
  readonly headerNames: readonly string[];
  readonly #upstream: string;
  readonly #options: CredentialOptions;
  readonly #secret: CredentialSecret;
  readonly #logins = new LoginDigests();
  readonly #latch: Latch;
  /** When requests were suspended, in epoch milliseconds; undefined while they are sent. */
  #suspendedAtMs: number | undefined;

  /** Reads the secret immediately. If the secret is missing, requests are suspended from the start. */
  constructor(upstream: string, settings: CredentialSettings, options: CredentialOptions) {
    this.headerNames = credentialFieldsOf(settings);
    this.#upstream = upstream;
    this.#options = options;
    this.#secret = new CredentialSecret(settings, options);
    this.#latch = new Latch(upstream, options, () => this.#report());
    this.#reload();
  }

  /**
   * Returns the header for the upstream. If requests are suspended, reads the secret again first. Throws upstream_auth_failed if requests
   * are still suspended.
   *
   * @param mayProbe false for an operation that needs no credential, because its success as a probe would say nothing
   */
  header(mayProbe: boolean): CredentialHeader {
    this.#refresh();
    const { lastRead } = this.#secret;
    if (typeof lastRead === 'string') throw this.#authFailed(lastRead);
    if (this.#latch.state !== 'latched') return lastRead.header;
    const probe = mayProbe ? this.#latch.probe(lastRead.header) : undefined;
    if (probe === undefined) throw this.#authFailed('refused');
    return probe;
  }

  /**
   * Returns a promise to wait for before `header` is called; undefined if there is nothing to wait for. If the credential is latched and a
   * probe may be due, the promise resolves when the schedule of the probes has answered or has failed. It never rejects.
   */
  untilReady(): Promise<void> | undefined {
    return this.#latch.askIfDue();
  }

  /** Lets a refused secret be sent again, as if it were new. Returns false if the credential is not latched. */
  forgetRefusal(): boolean {
    if (this.#latch.state !== 'latched') return false;
    this.#latch.becomeUnproven();
    this.#reload();
    return true;
  }

  /** Returns true once the upstream has accepted a request with the current secret. Until then only one request at a time is sent. */
  sendsSeveral(): boolean {
    return !this.isSuspended() && this.#latch.sendsSeveral;
  }

  /**
   * Call it when the upstream has accepted a request with this header.
   *
   * @param isProof false for an operation that needs no credential
   */
  accepted(header: CredentialHeader, isProof: boolean): void {
    if (!this.#secret.isLast(header)) return;
    this.#latch.accepted(header, isProof);
    this.#report();
  }

  /**
   * Call it when the upstream has refused this header with this status. Then call `isSuspended`: if it returns false, the secret
   * was replaced after the header was made, and the request can be repeated with the new secret.
   */
  refused(header: CredentialHeader, status: number): void {
    this.#latch.endProbe(header);
    // A refusal of a replaced secret does not concern the current secret.
    if (this.#secret.isLast(header)) this.#reload();
    if (this.#secret.isLast(header)) this.#latch.refused(status, this.#secret.writtenAt());
    this.#report();
  }

  isSuspended(): boolean {
    return this.#suspendedBy() !== undefined;
  }

  /** Whether this user name and password are this credential. Runs in constant time. */
  matches(user: string, password: string): boolean {
    // The secret is read before the comparison, because a replaced password must stop working. `#refresh` bounds how often the secret is
    // read, because there may be many guesses.
    this.#refresh();
    return this.#logins.match(user, password, typeof this.#secret.lastRead !== 'string');
  }

  /** Returns the state. Reads a secret that has just been written, even if no request has needed it yet. */
  status(): CredentialState {
    if (this.#secret.isOld()) this.#reload();
    if (typeof this.#secret.lastRead === 'string') return 'no_secret';
    return this.#latch.state;
  }

  /** Returns the reason why requests are suspended; undefined if they are sent. */
  fault(): CredentialFault | undefined {
    const reason = this.#suspendedBy();
    if (reason === undefined) return undefined;
    const { entry, detail } = this.#secret;
    return {
      reason,
      secret: entry,
      ...(reason === 'unusable' && detail !== undefined && { detail }),
      ...(this.#suspendedAtMs !== undefined && { beganAtMs: this.#suspendedAtMs }),
    };
  }

  #authFailed(why: SuspendedBy): GatewayError {
    return new GatewayError('upstream_auth_failed', { cause: new Error(CAUSES[why](this.#secret.entry)) });
  }

  #suspendedBy(): SuspendedBy | undefined {
    const { lastRead } = this.#secret;
    if (typeof lastRead === 'string') return lastRead;
    return this.#latch.state === 'latched' ? 'refused' : undefined;
  }

  #refresh(): void {
    if (this.isSuspended() || this.#secret.isOld()) this.#reload();
  }

  #reload(): void {
    if (this.#latch.state === 'latched') this.#latch.noteWritten(this.#secret.writtenAt());
    const next = this.#secret.readNext();
    if (next !== undefined) {
      this.#logins.use(next.login);
      this.#latch.becomeUnproven();
    }
    this.#report();
  }

  #report(): void {
    const why = this.#suspendedBy();
    if ((why !== undefined) === (this.#suspendedAtMs !== undefined)) return;
    this.#suspendedAtMs = why === undefined ? undefined : this.#options.now();
    if (why === undefined) this.#options.onHealed(this.#upstream);
    else this.#options.onSuspended(this.#upstream, why);
  }
}
