// Limits failed logins through tunnels per client address: the upstream may see the gateway as one address, and would lock out all clients together. Throws
// auth_attempts_limited.

import { createHmac, randomBytes } from 'node:crypto';
import type { Admitted } from '../exchange.ts';
import type { FailureCounters } from './failure-counter.ts';
import { createThrottle } from './throttle.ts';

export interface LoginThrottleRules {
  /** Failed logins allowed per address in one window, which begins with the first failure. */
  readonly failures: number;
  readonly failuresWindowSeconds: number;
  /** The same for all addresses together; absent: unlimited. */
  readonly failuresTotal?: number | undefined;
}

export interface LoginThrottle {
  /** @param credential of the request, if it can be guessed */
  admit(admitted: Admitted, credential: string | undefined): void;
  /** Call it for every answer of the upstream. */
  answered(admitted: Admitted, credential: string | undefined, status: number): void;
  /** Applies from now on; windows that have begun keep their end. */
  useRules(rules: LoginThrottleRules): void;
}

/** Accepted credentials in memory, about 1 MB. */
const ACCEPTED_MAX = 10_000;
/** Statuses of the upstream for a failed login, or for too many of them. */
const failing = new Set([401, 402, 403, 429]);
const ALL_ADDRESSES = 'all';

export interface LoginThrottleOptions {
  /** Name of the login; the same on all instances. */
  readonly name: string;
  /** Counters of failures; those of this process by default. */
  readonly counters?: FailureCounters | undefined;
  /** Epoch milliseconds. */
  now(): number;
}

/**
 * A credential that was accepted within the last window passes even from a throttled address. An upstream may give an address the same
 * answer for every credential, so a credential that fails later is forgotten, and a few such failures throttle the address for all
 * credentials.
 */
export function createLoginThrottle(
  rules: LoginThrottleRules,
  { name, counters, now }: LoginThrottleOptions,
): LoginThrottle {
  const accepted = createAcceptedCredentials(() => rules.failuresWindowSeconds * 1000, now);
  const throttleOf = (part: string) => ({
    name: `${part}:${name}`,
    ...(counters && { counters }),
    isKnownCaller: () => false,
    now,
  });
  const ofAddress = createThrottle({ ...throttleOf('login'), ...throttleRules(rules, 1) });
  const ofAccepted = createThrottle({ ...throttleOf('known'), ...throttleRules(rules, 0.1) });
  const ofAll = createThrottle({ ...throttleOf('total'), ...totalRules(rules) });

  return {
    admit(admitted, credential) {
      if (credential === undefined) return;
      ofAccepted.throttle(admitted);
      if (accepted.has(credential)) return;
      ofAddress.throttle(admitted);
      if (rules.failuresTotal !== undefined) ofAll.throttle({ ...admitted, clientAddress: ALL_ADDRESSES });
    },
    answered({ clientAddress }, credential, status) {
      if (credential === undefined) return;
      if (status < 300) accepted.add(credential);
      if (!failing.has(status)) return;
      if (accepted.forget(credential)) ofAccepted.countFailure(clientAddress);
      ofAddress.countFailure(clientAddress);
      if (rules.failuresTotal !== undefined) ofAll.countFailure(ALL_ADDRESSES);
    },
    useRules(next) {
      rules = next;
      ofAddress.useRules(throttleRules(next, 1));
      ofAccepted.useRules(throttleRules(next, 0.1));
      ofAll.useRules(totalRules(next));
    },
  };
}

function throttleRules({ failures, failuresWindowSeconds }: LoginThrottleRules, part: number) {
  return { failures: Math.ceil(failures * part), windowSeconds: failuresWindowSeconds };
}

function totalRules({ failures, failuresTotal = failures, failuresWindowSeconds }: LoginThrottleRules) {
  return { failures: failuresTotal, windowSeconds: failuresWindowSeconds };
}

/**
 * Credentials that the upstream has accepted. Stores digests instead of credentials: they are useless outside this process.
 *
 * @param keptMs milliseconds for which an acceptance counts
 */
function createAcceptedCredentials(keptMs: () => number, now: () => number) {
  const secret = randomBytes(32);
  /** Digest → time of its last acceptance, oldest first. */
  const acceptedAtMs = new Map<string, number>();
  const digestOf = (credential: string) => createHmac('sha256', secret).update(credential).digest('base64');

  return {
    has(credential: string): boolean {
      const atMs = acceptedAtMs.get(digestOf(credential));
      return atMs !== undefined && now() - atMs < keptMs();
    },
    add(credential: string): void {
      const digest = digestOf(credential);
      acceptedAtMs.delete(digest);
      if (acceptedAtMs.size >= ACCEPTED_MAX) acceptedAtMs.delete(acceptedAtMs.keys().next().value as string);
      acceptedAtMs.set(digest, now());
    },
    /** Returns whether the credential was stored. */
    forget: (credential: string) => acceptedAtMs.delete(digestOf(credential)),
  };
}
