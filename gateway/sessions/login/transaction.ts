// The state of a login in progress, in a sealed cookie with its secrets, bound to its `state`. Several tabs can therefore sign in at the
// same time, on any instance, and a request without a session needs no room in the store.

import { hash } from 'node:crypto';
import type { KeyRing } from '../../shared/stores/seal.ts';
import { clearedLoginCookieLine, loginCookieLine, loginValuesIn } from '../cookies.ts';
import type { LoginSecrets } from '../provider/provider.ts';

/** How long a login may take. Shorter than the time for which the stores remember logouts (`LOGIN_MAX_MS` in sessions/store/record.ts). */
const LOGIN_SECONDS = 600;
/**
 * Maximum number of bytes of the cookies of unfinished logins in one browser, which is about a dozen cookies. Every request has these
 * cookies in its headers, whose size is bounded.
 */
const UNFINISHED_BYTES_MAX = 6000;

export interface Transaction extends LoginSecrets {
  readonly provider: string;
  /** The origin that the browser has to come back to. */
  readonly origin: string;
  /** The path to which the person goes after the login. `returnPathOf` has accepted it. */
  readonly returnTo: string;
  /** By the clock of the store, epoch milliseconds. */
  readonly begunAtMs: number;
}

export interface Transactions {
  /** Returns random values for a new login. */
  newSecrets(): LoginSecrets;
  /** Returns the Set-Cookie lines of a new login, which set its cookie, and clear the cookies of logins that were given up. */
  begin(transaction: Transaction, cookies: string, isSecure: boolean): string[];
  /** Returns the login with this `state`; undefined if this browser has begun no such login, or if the login took too long. */
  find(state: string, cookies: string, isSecure: boolean, nowMs: number): Transaction | undefined;
  /** Returns the Set-Cookie line that clears the cookie of a login. */
  endedLine(state: string, isSecure: boolean): string;
}

export function createTransactions(ring: KeyRing, randomText: () => string): Transactions {
  return {
    newSecrets: () => ({ state: randomText(), nonce: randomText(), codeVerifier: randomText() }),
    begin(transaction, cookies, isSecure) {
      const { state, ...sealed } = transaction;
      const givenUp = oldest(loginValuesIn(cookies, isSecure));
      const own = loginCookieLine(
        idOf(state),
        ring.seal(JSON.stringify(sealed), recordOf(state)),
        LOGIN_SECONDS,
        isSecure,
      );
      return [...givenUp.map((id) => clearedLoginCookieLine(id, isSecure)), own];
    },
    find(state, cookies, isSecure, nowMs) {
      const value = loginValuesIn(cookies, isSecure).get(idOf(state));
      if (value === undefined) return undefined;
      const sealed = openSealed(() => ring.open(value, recordOf(state)));
      if (sealed === undefined) return undefined;
      const transaction = { ...(JSON.parse(sealed) as Omit<Transaction, 'state'>), state };
      const ageMs = nowMs - transaction.begunAtMs;
      return ageMs >= 0 && ageMs <= LOGIN_SECONDS * 1000 ? transaction : undefined;
    },
    endedLine: (state, isSecure) => clearedLoginCookieLine(idOf(state), isSecure),
  };
}

/**
 * Returns the oldest logins, whose cookies must be removed to make room. A browser sends its oldest cookie first (RFC 6265 section 5.4).
 */
function oldest(values: ReadonlyMap<string, string>): string[] {
  let bytes = 0;
  return [...values].reverse().flatMap(([id, value]) => {
    bytes += value.length;
    return bytes > UNFINISHED_BYTES_MAX ? [id] : [];
  });
}

/** Returns the end of the cookie's name. It is made from the `state`, but does not reveal it. */
function idOf(state: string): string {
  return hash('sha256', state, 'base64url').slice(0, 22);
}

function recordOf(state: string): string {
  return `login ${state}`;
}

/** Opens a sealed value. Returns undefined if another key has sealed it, or if it was changed. */
function openSealed(open: () => string): string | undefined {
  try {
    return open();
  } catch {
    return undefined;
  }
}
