// What the gateway logs in with at an upstream. Upstreams may shut out whoever fails too often, so a secret that was refused is not sent
// again: the credential is latched until the secret changes. Throws upstream_auth_failed.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../errors.ts';

/** In the normal course the secret is read this often at most, whoever asks. */
const READ_EVERY_MS = 250;

/** Why nothing is sent: the upstream refused the secret, there is none, or it cannot be read as user name and password. */
export type LatchReason = 'refused' | 'absent' | 'unusable';

const causes: Readonly<Record<LatchReason, string>> = {
  refused: 'the upstream refused the credential, and the secret has not changed since',
  absent: 'the secret of the credential is missing',
  unusable: 'the secret of the credential cannot be read as user name and password',
};

export interface CredentialOptions {
  /** Whose password it is if the secret is a password alone. */
  readonly user: string;
  /** The secret as it is now, `user:password` or the password alone; undefined: there is none. It may throw. */
  read(): string | undefined;
  /** Epoch milliseconds. */
  now(): number;
  /** From now on nothing is sent. Once per change; also told while the credential is made. */
  onLatched(reason: LatchReason): void;
  /** There is a secret again that the upstream has not refused. Once per change. */
  onHealed(): void;
}

export interface Credential {
  /** Value of the Authorization header for the upstream. While latched, the secret is read anew first; throws upstream_auth_failed if it is still the refused one. */
  header(): string;
  /** Whether the upstream has accepted the present secret. Until then only one request at a time is sent. */
  isProven(): boolean;
  /** The upstream accepted this header. */
  accepted(header: string): void;
  /** The upstream refused this header. True: the secret has changed since it was sent, so that once more makes sense; false: latched. */
  refused(header: string): boolean;
  /** Whether a client presents this very credential; in constant time. User names compare without case and surrounding spaces. */
  matches(user: string, password: string): boolean;
  status(): 'unproven' | 'proven' | 'latched';
}

interface Login {
  readonly header: string;
  readonly userDigest: Buffer;
  readonly passwordDigest: Buffer;
}

/** Reads the secret once at once: a credential without one begins latched. */
export function createCredential({ user, read, now, onLatched, onHealed }: CredentialOptions): Credential {
  const digestOf = createDigestOf();
  /** Compared with where there is no secret, so that this takes as long. */
  const nobody = { userDigest: randomBytes(32), passwordDigest: randomBytes(32) };
  /** The last one that could be read: kept while there is none, because it may be the refused one that comes back. */
  let login: Login | undefined;
  let standing: 'unproven' | 'proven' | 'refused' = 'unproven';
  /** Why there is no secret at present. */
  let fault: 'absent' | 'unusable' | undefined;
  let readAtMs = Number.NEGATIVE_INFINITY;
  let isLatchedAsTold = false;

  const latchedBy = (): LatchReason | undefined => fault ?? (standing === 'refused' ? 'refused' : undefined);

  function tell(): void {
    const reason = latchedBy();
    if ((reason !== undefined) === isLatchedAsTold) return;
    isLatchedAsTold = reason !== undefined;
    if (reason === undefined) onHealed();
    else onLatched(reason);
  }

  function look(): void {
    readAtMs = now();
    const found = readPair(read, user);
    fault = typeof found === 'string' ? found : undefined;
    if (typeof found !== 'string') use(found);
    tell();
  }

  /** The same user name and password in another spelling are no change: the upstream would refuse them again. */
  function use(pair: Pair): void {
    const header = `Basic ${Buffer.from(`${pair.user}:${pair.password}`).toString('base64')}`;
    if (header === login?.header) return;
    login = { header, userDigest: digestOf(nameOf(pair.user)), passwordDigest: digestOf(pair.password) };
    standing = 'unproven';
  }

  /** Also when the clock was set back. */
  function lookIfOld(): void {
    const ageMs = now() - readAtMs;
    if (ageMs < 0 || ageMs >= READ_EVERY_MS) look();
  }

  look();

  return {
    header() {
      if (latchedBy() === undefined) lookIfOld();
      else look();
      const reason = latchedBy();
      if (reason !== undefined) throw new GatewayError('upstream_auth_failed', { cause: new Error(causes[reason]) });
      return (login as Login).header;
    },
    isProven: () => latchedBy() === undefined && standing === 'proven',
    accepted(header) {
      // What comes in after a refusal was sent before it.
      if (header === login?.header && standing === 'unproven') standing = 'proven';
    },
    refused(header) {
      // A refusal of what was replaced meanwhile says nothing about the present secret.
      if (header === login?.header) look();
      if (header === login?.header) standing = 'refused';
      tell();
      return latchedBy() === undefined;
    },
    matches(givenUser, givenPassword) {
      // Before comparing and not after a mismatch: a password that was replaced stops being good, and no guess costs a read of its own.
      if (latchedBy() === undefined) lookIfOld();
      else look();
      const { userDigest, passwordDigest } = fault === undefined && login !== undefined ? login : nobody;
      // Both are always compared, by digests of one length: the time tells neither which was wrong nor how much of it was right.
      const isUser = timingSafeEqual(digestOf(nameOf(givenUser)), userDigest);
      const isPassword = timingSafeEqual(digestOf(givenPassword), passwordDigest);
      return isUser && isPassword;
    },
    status: () => (latchedBy() === undefined ? (standing as 'unproven' | 'proven') : 'latched'),
  };
}

/** Under a key that only this process has, so that nobody can choose what a digest begins with. */
function createDigestOf(): (text: string) => Buffer {
  const key = randomBytes(32);
  return (text) => createHmac('sha256', key).update(text).digest();
}

function nameOf(user: string): string {
  return user.trim().toLowerCase();
}

interface Pair {
  readonly user: string;
  readonly password: string;
}

function readPair(read: () => string | undefined, user: string): Pair | 'absent' | 'unusable' {
  let text: string | undefined;
  try {
    text = read();
  } catch {
    return 'unusable';
  }
  return text === undefined ? 'absent' : (parsePair(text.replace(/\r?\n$/, ''), user) ?? 'unusable');
}

/** RFC 7617 section 2: split at the first colon; no control characters. A half that is empty is a file that was cut off. */
function parsePair(text: string, defaultUser: string): Pair | undefined {
  const colon = text.indexOf(':');
  const user = colon === -1 ? defaultUser : text.slice(0, colon);
  const password = text.slice(colon + 1);
  return user === '' || password === '' || /\p{Cc}/u.test(text) ? undefined : { user, password };
}
