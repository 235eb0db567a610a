// The gateway's credential at an upstream. Upstreams may lock out a client after repeated failures, so a refused secret is not sent again:
// the credential is latched until the secret changes or an operator asks. If the login was right and only a permission or a second factor
// is in the way, single requests probe it. Throws upstream_auth_failed.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../../errors.ts';
import type { CredentialHeader, ParsedCredential } from './credential-kinds.ts';
import type { Turn } from './latch-probes.ts';

/** The statuses by which an upstream refuses a login. It may count them toward a ban, so they are never probed. */
const loginStatuses = new Set([401, 407]);

/** Until the next question for a turn after the store of the turns did not answer. */
const ASK_AGAIN_MS = 30_000;

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

interface CredentialOptions {
  /** The current secret; undefined if it is missing. May throw. */
  read(): string | undefined;
  /** When the secret was last written, in any unit; undefined if that is not known. May throw. */
  writtenAt?(): number | undefined;
  /** Asks for a turn to probe the latched credential. */
  takeTurn?(latchedAtMs: number): Promise<Turn>;
  /** The upstream accepts requests again, for the first time since a refusal. */
  onAccepted?(): void;
  /** Undefined for a secret that cannot be used. */
  parse(secret: string): ParsedCredential | undefined;
  /** Epoch milliseconds. */
  now(): number;
  /** The credential is latched now. Called once per change, possibly during creation. */
  onLatched(reason: LatchReason): void;
  /** Requests are sent again: the secret has changed, a probe was accepted, or an operator asked. Called once per change. */
  onHealed(): void;
}

export interface Credential {
  /**
   * The header for the upstream. While latched, reads the secret again first. Throws upstream_auth_failed if it is
   * still latched.
   */
  header(): CredentialHeader;
  /** If a latched credential may be due for a probe: resolves when it is known whether `header` may be called for it. Never rejects. */
  awaitTurn(): Promise<void> | undefined;
  /** Sends a refused secret again, as if it were new. Returns false if the credential is not latched by a refusal. */
  retry(): boolean;
  /** True if the upstream has accepted the current secret. Until then only one request at a time is sent. */
  isProven(): boolean;
  /** The upstream accepted this header. */
  accepted(header: CredentialHeader): void;
  /**
   * The upstream refused this header, with this status. Returns true if the secret has changed since it was sent, so that a retry makes sense; false if
   * latched.
   */
  refused(header: CredentialHeader, status: number): boolean;
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
export function createCredential(options: CredentialOptions): Credential {
  const { read, parse, now, onLatched, onHealed } = options;
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
  /** The time of writing of the refused secret. */
  let refusedWrittenAt: number | undefined;
  let latchedAtMs = 0;
  let isLoginRefused = false;
  /** The upstream has accepted nothing since the last refusal. */
  let isAfterLatch = false;
  /** When to ask for a turn. */
  let turnAtMs = Number.POSITIVE_INFINITY;
  let hasTurn = false;
  /** The header of the probe under way. */
  let probe: CredentialHeader | undefined;

  const latchedBy = (): LatchReason | undefined => fault ?? (verdict === 'refused' ? 'refused' : undefined);

  function report(): void {
    const reason = latchedBy();
    if ((reason !== undefined) === isReportedLatched) return;
    isReportedLatched = reason !== undefined;
    if (reason === undefined) onHealed();
    else onLatched(reason);
  }

  /** Ends a latch by refusal. */
  function unlatch(next: 'unproven' | 'proven'): void {
    verdict = next;
    turnAtMs = Number.POSITIVE_INFINITY;
    hasTurn = false;
    probe = undefined;
    isLoginRefused = false;
  }

  /** The upstream has accepted the secret that it refused before, or the one after it. */
  function proven(): void {
    unlatch('proven');
    if (isAfterLatch) options.onAccepted?.();
    isAfterLatch = false;
    report();
  }

  function latch(status: number): void {
    verdict = 'refused';
    refusedWrittenAt = writtenAt();
    hasTurn = false;
    isAfterLatch = true;
    isLoginRefused ||= loginStatuses.has(status);
    if (isLoginRefused) turnAtMs = Number.POSITIVE_INFINITY;
    else if (turnAtMs === Number.POSITIVE_INFINITY) {
      latchedAtMs = now();
      void askForTurn();
    }
  }

  async function askForTurn(): Promise<void> {
    const { takeTurn } = options;
    if (takeTurn === undefined) return;
    // Until the answer, further requests do not ask.
    turnAtMs = now() + ASK_AGAIN_MS;
    const turn = await takeTurn(latchedAtMs).catch(() => undefined);
    if (turn === undefined || verdict !== 'refused' || turnAtMs === Number.POSITIVE_INFINITY) return;
    turnAtMs = turn.nextAtMs;
    hasTurn = turn.kind === 'probe';
    if (turn.kind === 'healed') unlatch('unproven');
    report();
  }

  function writtenAt(): number | undefined {
    try {
      return options.writtenAt?.();
    } catch {
      return undefined;
    }
  }

  function reload(): void {
    readAtMs = now();
    if (verdict === 'refused' && writtenAt() !== refusedWrittenAt) unlatch('unproven');
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
    unlatch('unproven');
  }

  function isCurrent({ name, value }: CredentialHeader): boolean {
    return value === login?.header.value && name === login.header.name;
  }

  /** Reloads if the credential is latched, or was read some time ago; also after the clock was set back. */
  function refresh(): void {
    const ageMs = now() - readAtMs;
    if (latchedBy() !== undefined || ageMs < 0 || ageMs >= READ_EVERY_MS) reload();
  }

  reload();

  return {
    header() {
      refresh();
      const reason = latchedBy();
      if (reason === 'refused' && hasTurn) {
        hasTurn = false;
        probe = { ...(login as Login).header };
        return probe;
      }
      if (reason !== undefined) throw new GatewayError('upstream_auth_failed', { cause: new Error(causes[reason]) });
      return (login as Login).header;
    },
    awaitTurn() {
      return verdict === 'refused' && now() >= turnAtMs ? askForTurn() : undefined;
    },
    retry() {
      if (verdict !== 'refused') return false;
      unlatch('unproven');
      reload();
      return true;
    },
    isProven: () => latchedBy() === undefined && verdict === 'proven',
    accepted(header) {
      // An acceptance that arrives after a refusal belongs to an earlier request.
      if (isCurrent(header) && (verdict === 'unproven' || header === probe)) proven();
    },
    refused(header, status) {
      if (header === probe) probe = undefined;
      // A refusal of a replaced secret does not concern the current one.
      if (isCurrent(header)) reload();
      if (isCurrent(header)) latch(status);
      report();
      return latchedBy() === undefined;
    },
    matches(givenUser, givenPassword) {
      // Reload before the comparison: a replaced password must stop working, and guesses must not cause reads of their own.
      refresh();
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
