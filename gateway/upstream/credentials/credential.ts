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

export interface Credential {
  /**
   * Returns the header for the upstream. While latched, it reads the secret again first. Throws upstream_auth_failed if it is still
   * latched.
   */
  header(): CredentialHeader;
  /**
   * Asks for a probe if the credential is latched and a probe may be due. Resolves when `header` knows whether it may send one; never
   * rejects. Returns undefined if there is nothing to wait for.
   */
  awaitReady(): Promise<void> | undefined;
  /** Sends a refused secret again, as if it were new. Returns false if the credential is not latched by a refusal. */
  retry(): boolean;
  /** True if the upstream has accepted the current secret. Until then only one request at a time is sent. */
  isProven(): boolean;
  /** Call it when the upstream has accepted this header. */
  accepted(header: CredentialHeader): void;
  /**
   * Call it when the upstream has refused this header, with this status. Returns true if the secret has changed since the header was made,
   * so that a retry makes sense; false if the credential is latched.
   */
  refused(header: CredentialHeader, status: number): boolean;
  /** True if a client presents this credential as user name and password. Runs in constant time. */
  matches(user: string, password: string): boolean;
  status(): 'unproven' | 'proven' | 'latched';
}

/** Reads the secret immediately: a credential without a secret starts latched. */
export function createCredential(
  upstream: string,
  settings: CredentialSettings,
  options: CredentialOptions,
): Credential {
  const secret = new CredentialSecret(settings, options);
  const logins = new LoginDigests();
  const latch = new Latch(upstream, options, report);
  /**
   * The header of the last secret that could be parsed. It is kept while the secret is missing: if the same refused secret returns, it is
   * recognized and not sent again.
   */
  let current: CredentialHeader | undefined;
  let isReportedLatched = false;

  const latchedBy = (): LatchReason | undefined => secret.fault ?? (latch.state === 'refused' ? 'refused' : undefined);

  function report(): void {
    const reason = latchedBy();
    if ((reason !== undefined) === isReportedLatched) return;
    isReportedLatched = reason !== undefined;
    if (reason === undefined) options.onHealed(upstream);
    else options.onLatched(upstream, reason);
  }

  function reload(): void {
    if (latch.state === 'refused') latch.written(secret.writtenAt());
    const found = secret.read();
    // A different spelling of the same credential is not a change: the upstream would refuse it again.
    if (found !== undefined && !isCurrent(found.header)) {
      current = found.header;
      logins.use(found.login);
      latch.beginAnew();
    }
    report();
  }

  function isCurrent({ name, value }: CredentialHeader): boolean {
    return value === current?.value && name === current.name;
  }

  function refresh(): void {
    if (latchedBy() !== undefined || secret.isOld()) reload();
  }

  reload();

  return {
    header() {
      refresh();
      const reason = latchedBy();
      const header = current as CredentialHeader;
      if (reason === undefined) return header;
      const probe = reason === 'refused' ? latch.probe(header) : undefined;
      if (probe === undefined) throw new GatewayError('upstream_auth_failed', { cause: new Error(causes[reason]) });
      return probe;
    },
    awaitReady: () => latch.askIfDue(),
    retry() {
      if (latch.state !== 'refused') return false;
      latch.beginAnew();
      reload();
      return true;
    },
    isProven: () => latchedBy() === undefined && latch.state === 'proven',
    accepted(header) {
      if (isCurrent(header) && latch.accepted(header)) report();
    },
    refused(header, status) {
      latch.answered(header);
      // A refusal of a replaced secret does not concern the current one.
      if (isCurrent(header)) reload();
      if (isCurrent(header)) latch.refused(status, secret.writtenAt());
      report();
      return latchedBy() === undefined;
    },
    matches(user, password) {
      // Reload before the comparison: a replaced password must stop working, and guesses must not cause reads of their own.
      refresh();
      return logins.match(user, password, secret.fault === undefined);
    },
    status: () => (latchedBy() === undefined ? (latch.state as 'unproven' | 'proven') : 'latched'),
  };
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
