// The gateway's credential at an upstream. Upstreams may lock out a client after repeated failures, so a refused secret is not sent again:
// the credential is latched until the secret changes. Throws upstream_auth_failed.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import type { CredentialHeader, ParsedCredential } from './credential-kinds.ts';

/** Shortest interval between two reads of the secret while the credential works. */
const READ_EVERY_MS = 250;

/**
 * Why the credential is latched: the upstream refused the secret, the secret is missing, or it cannot be parsed as its kind demands.
 */
export type LatchReason = 'refused' | 'absent' | 'unusable';

const causes: Readonly<Record<LatchReason, string>> = {
  refused: 'the upstream refused the credential, and the secret has not changed since',
  absent: 'the secret of the credential is missing',
  unusable: 'the secret of the credential cannot be parsed',
};

export interface CredentialOptions {
  /** The current secret; undefined if it is missing. May throw. */
  read(): string | undefined;
  /** Undefined for a secret that cannot be used. */
  parse(secret: string): ParsedCredential | undefined;
  /** Epoch milliseconds. */
  now(): number;
  /** The credential is latched now. Called once per change, possibly during creation. */
  onLatched(reason: LatchReason): void;
  /** The secret has changed and was not refused. Called once per change. */
  onHealed(): void;
}

export interface Credential {
  /**
   * The header for the upstream. While latched, reads the secret again first. Throws upstream_auth_failed if it is
   * still latched.
   */
  header(): CredentialHeader;
  /** True if the upstream has accepted the current secret. Until then only one request at a time is sent. */
  isProven(): boolean;
  /** The upstream accepted this header. */
  accepted(header: CredentialHeader): void;
  /**
   * The upstream refused this header. Returns true if the secret has changed since it was sent, so that a retry makes sense; false if
   * latched.
   */
  refused(header: CredentialHeader): boolean;
  /** True if a client presents this credential as user name and password. Runs in constant time. User names are compared without case and surrounding spaces. */
  matches(user: string, password: string): boolean;
  status(): 'unproven' | 'proven' | 'latched';
}

interface Login {
  readonly header: CredentialHeader;
  readonly userDigest: Buffer;
  readonly passwordDigest: Buffer;
}

/** Reads the secret immediately: a credential without a secret starts latched. */
export function createCredential({ read, parse, now, onLatched, onHealed }: CredentialOptions): Credential {
  const digestOf = createDigestOf();
  /** Compared against if clients can present no credential, so that the comparison takes the same time. */
  const noLogin = { userDigest: randomBytes(32), passwordDigest: randomBytes(32) };
  /** The last secret that could be parsed. Kept while the secret is missing, because the refused one may come back. */
  let login: Login | undefined;
  let verdict: 'unproven' | 'proven' | 'refused' = 'unproven';
  /** Why no secret is available. */
  let fault: 'absent' | 'unusable' | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let isReportedLatched = false;

  const latchedBy = (): LatchReason | undefined => fault ?? (verdict === 'refused' ? 'refused' : undefined);

  function report(): void {
    const reason = latchedBy();
    if ((reason !== undefined) === isReportedLatched) return;
    isReportedLatched = reason !== undefined;
    if (reason === undefined) onHealed();
    else onLatched(reason);
  }

  function reload(): void {
    readAtMs = now();
    const found = readParsed();
    fault = typeof found === 'string' ? found : undefined;
    if (typeof found !== 'string') use(found);
    report();
  }

  function readParsed(): ParsedCredential | 'absent' | 'unusable' {
    try {
      const text = read();
      return text === undefined ? 'absent' : (parse(text.replace(/\r?\n$/, '')) ?? 'unusable');
    } catch {
      return 'unusable';
    }
  }

  /** A different spelling of the same credential is not a change: the upstream would refuse it again. */
  function use({ header, login: shared }: ParsedCredential): void {
    if (isCurrent(header)) return;
    const digests = shared && { userDigest: digestOf(nameOf(shared.user)), passwordDigest: digestOf(shared.password) };
    login = { header, ...(digests ?? noLogin) };
    verdict = 'unproven';
  }

  function isCurrent({ name, value }: CredentialHeader): boolean {
    return value === login?.header.value && name === login.header.name;
  }

  /** Also reloads after the clock was set back. */
  function reloadIfOld(): void {
    const ageMs = now() - readAtMs;
    if (ageMs < 0 || ageMs >= READ_EVERY_MS) reload();
  }

  reload();

  return {
    header() {
      if (latchedBy() === undefined) reloadIfOld();
      else reload();
      const reason = latchedBy();
      if (reason !== undefined) throw new GatewayError('upstream_auth_failed', { cause: new Error(causes[reason]) });
      return (login as Login).header;
    },
    isProven: () => latchedBy() === undefined && verdict === 'proven',
    accepted(header) {
      // An acceptance that arrives after a refusal belongs to an earlier request.
      if (isCurrent(header) && verdict === 'unproven') verdict = 'proven';
    },
    refused(header) {
      // A refusal of a replaced secret does not concern the current one.
      if (isCurrent(header)) reload();
      if (isCurrent(header)) verdict = 'refused';
      report();
      return latchedBy() === undefined;
    },
    matches(givenUser, givenPassword) {
      // Reload before the comparison: a replaced password must stop working, and guesses must not cause reads of their own.
      if (latchedBy() === undefined) reloadIfOld();
      else reload();
      const { userDigest, passwordDigest } = fault === undefined && login !== undefined ? login : noLogin;
      // Always compares both digests, of equal length: the time reveals neither which part was wrong nor how much of it was right.
      const isUser = timingSafeEqual(digestOf(nameOf(givenUser)), userDigest);
      const isPassword = timingSafeEqual(digestOf(givenPassword), passwordDigest);
      return isUser && isPassword;
    },
    status: () => (latchedBy() === undefined ? (verdict as 'unproven' | 'proven') : 'latched'),
  };
}

/** Uses a random key per process, so that an attacker cannot choose the first bytes of a digest. */
function createDigestOf(): (text: string) => Buffer {
  const key = randomBytes(32);
  return (text) => createHmac('sha256', key).update(text).digest();
}

function nameOf(user: string): string {
  return user.trim().toLowerCase();
}
