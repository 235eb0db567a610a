// Keeps a client address from failing to log in upstream all day: there the gateway may be one address for all clients, and be shut out
// with them. Throws auth_attempts_limited.

import { createHmac, randomBytes } from 'node:crypto';
import type { Admitted } from '../exchange.ts';
import type { FailureCounters } from './failure-counter.ts';
import { createThrottle } from './throttle.ts';

export interface LoginThrottleRules {
  /** Refusals an address may bring about in one window, which begins with its first one. */
  readonly failures: number;
  readonly failuresWindowSeconds: number;
  /** The same for all addresses together; absent: as many as there are. */
  readonly failuresTotal?: number | undefined;
}

export interface LoginThrottle {
  admit(admitted: Admitted): void;
  /** To be called for every answer of the upstream. */
  answered(admitted: Admitted, status: number): void;
  /** From now on; windows that have begun end as they would have. */
  useRules(rules: LoginThrottleRules): void;
}

/** Credentials remembered as good, about 1 MB. */
const KNOWN_MAX = 10_000;
/** What the upstream says to a login that fails, or to one too many. */
const failing = new Set([401, 402, 403, 429]);
const EVERYBODY = 'everybody';

export interface LoginThrottleOptions {
  /** Of what is logged in to; the same on all instances. */
  readonly name: string;
  /** Where failures are counted; in this process by default. */
  readonly counters?: FailureCounters | undefined;
  /** Epoch milliseconds. */
  now(): number;
}

/**
 * A credential that was accepted within the last window passes behind a throttled address. An upstream may give an address one answer
 * whatever credential is shown, so a credential that fails later is forgotten, and a few of these throttle the address for all of them.
 */
export function createLoginThrottle(
  rules: LoginThrottleRules,
  { name, counters, now }: LoginThrottleOptions,
): LoginThrottle {
  const known = createKnown(() => rules.failuresWindowSeconds * 1000, now);
  const isKnownCaller = (admitted: Admitted) => known.has(guessableIn(admitted));
  const throttleOf = (part: string) => ({ name: `${part}:${name}`, ...(counters && { counters }), isKnownCaller, now });
  const ofAddress = createThrottle({ ...throttleOf('login'), ...throttleRules(rules, 1) });
  const ofKnown = createThrottle({ ...throttleOf('known'), ...throttleRules(rules, 0.1), isKnownCaller: () => false });
  const ofAll = createThrottle({ ...throttleOf('total'), ...totalRules(rules) });

  return {
    admit(admitted) {
      // Who logs in as nobody cannot fail at it.
      if (guessableIn(admitted) === undefined) return;
      ofKnown.throttle(admitted);
      ofAddress.throttle(admitted);
      if (rules.failuresTotal !== undefined) ofAll.throttle({ ...admitted, clientAddress: EVERYBODY });
    },
    answered(admitted, status) {
      const credential = guessableIn(admitted);
      if (credential === undefined) return;
      if (status < 300) known.add(credential);
      if (!failing.has(status)) return;
      const { clientAddress } = admitted;
      if (known.forget(credential)) ofKnown.countFailure(clientAddress);
      ofAddress.countFailure(clientAddress);
      if (rules.failuresTotal !== undefined) ofAll.countFailure(EVERYBODY);
    },
    useRules(next) {
      rules = next;
      ofAddress.useRules(throttleRules(next, 1));
      ofKnown.useRules(throttleRules(next, 0.1));
      ofAll.useRules(totalRules(next));
    },
  };
}

/** What the request logs in with, unless it is a token: these cannot be guessed, and each of them fails once it has expired. */
function guessableIn({ headers }: Admitted): string | undefined {
  const credential = headers.get('authorization');
  return credential === undefined || /^bearer /i.test(credential) ? undefined : credential;
}

function throttleRules({ failures, failuresWindowSeconds }: LoginThrottleRules, part: number) {
  return { failures: Math.ceil(failures * part), windowSeconds: failuresWindowSeconds };
}

function totalRules({ failures, failuresTotal = failures, failuresWindowSeconds }: LoginThrottleRules) {
  return { failures: failuresTotal, windowSeconds: failuresWindowSeconds };
}

/** Never the credentials themselves: what is kept is good for nothing outside this process. */
function createKnown(keptMs: () => number, now: () => number) {
  const secret = randomBytes(32);
  /** Digest → when it was accepted last, oldest first. */
  const accepted = new Map<string, number>();
  const digestOf = (credential: string) => createHmac('sha256', secret).update(credential).digest('base64');

  return {
    has(credential: string | undefined): boolean {
      const atMs = credential === undefined ? undefined : accepted.get(digestOf(credential));
      return atMs !== undefined && now() - atMs < keptMs();
    },
    add(credential: string): void {
      const digest = digestOf(credential);
      accepted.delete(digest);
      if (accepted.size >= KNOWN_MAX) accepted.delete(accepted.keys().next().value as string);
      accepted.set(digest, now());
    },
    /** Whether it was known. */
    forget: (credential: string) => accepted.delete(digestOf(credential)),
  };
}
