// A login in progress: its secrets are in a sealed cookie, one for each login, bound to the `state` of the login. So several tabs can sign
// in at the same time, on any instance, and requests without a session need no room in the store.

import { hash } from 'node:crypto';
import type { KeyRing } from '../../shared/stores/seal.ts';
import { clearedLoginCookieLine, loginCookieLine, loginValuesIn } from '../cookies.ts';
import type { LoginSecrets } from '../provider/provider.ts';

/** The store refuses logins that took longer than 15 minutes. */
const LOGIN_SECONDS = 600;
/**
 * Most bytes that the cookies of unfinished logins may have in one browser: about a dozen cookies. They need a bound because every request
 * carries them in its headers, whose size is bounded.
 */
const UNDER_WAY_BYTES_MAX = 6000;

export interface Transaction extends LoginSecrets {
  readonly provider: string;
  /** The origin that the browser has to come back to. */
  readonly origin: string;
  /** Where the person gets to afterwards: a path that `returnPathOf` has accepted. */
  readonly returnTo: string;
  /** By the clock of the store, epoch milliseconds. */
  readonly begunAtMs: number;
}

export interface Transactions {
  /** Random values for a new login. */
  newSecrets(): LoginSecrets;
  /** The Set-Cookie lines of a new login: its own cookie, and the ends of logins that were given up. */
  begin(transaction: Transaction, cookies: string, isSecure: boolean): string[];
  /** The login of this `state` that this browser has begun; undefined if there is none, or it took too long. */
  find(state: string, cookies: string, isSecure: boolean, nowMs: number): Transaction | undefined;
  /** The Set-Cookie line after its end. */
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
      const sealed = opened(() => ring.open(value, recordOf(state)));
      if (sealed === undefined) return undefined;
      const transaction = { ...(JSON.parse(sealed) as Omit<Transaction, 'state'>), state };
      const ageMs = nowMs - transaction.begunAtMs;
      return ageMs >= 0 && ageMs <= LOGIN_SECONDS * 1000 ? transaction : undefined;
    },
    endedLine: (state, isSecure) => clearedLoginCookieLine(idOf(state), isSecure),
  };
}

/** Returns the oldest logins, whose cookies have to go to make room. A browser sends its oldest cookie first (RFC 6265 section 5.4). */
function oldest(values: ReadonlyMap<string, string>): string[] {
  let bytes = 0;
  return [...values].reverse().flatMap(([id, value]) => {
    bytes += value.length;
    return bytes > UNDER_WAY_BYTES_MAX ? [id] : [];
  });
}

/** Returns the end of the cookie's name. It is made from the `state`, but does not reveal it. */
function idOf(state: string): string {
  return hash('sha256', state, 'base64url').slice(0, 22);
}

function recordOf(state: string): string {
  return `login ${state}`;
}

/** A value that another key has sealed, or that was changed, is no login of this gateway. */
function opened(open: () => string): string | undefined {
  try {
    return open();
  } catch {
    return undefined;
  }
}
