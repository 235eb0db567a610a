// What the store in Redis and the store in a file have in common: names that reveal nothing about a person, the sealed tokens, and times
// that follow from durations.

import { createHash } from 'node:crypto';
import type { KeyRing } from '../../shared/stores/seal.ts';
import type { IssuedTokens, NewSession, ProviderLogout, Session, SessionTokens } from './session-store.ts';

/** How long a login may take, and how long logouts of providers are remembered for logins in progress. */
export const LOGIN_MAX_MS = 15 * 60_000;
/** Most ends in the log of ends. */
export const ENDS_MAX = 10_000;
/** The interval at which uses of a session are written: this part of its idle time, at most a minute. */
export const USE_GRAIN = { part: 0.1, most: 60_000 } as const;
/**
 * How long a session is kept after its idle end. Instances decide themselves whether it has been idle for too long, and an instance may know
 * of a use that is not written: the store still has to find such a session, or no one can end it. The five seconds are for the writing.
 */
export const IDLE_SLACK_MS = USE_GRAIN.most + 5000;

/** The longest lease. If a stored lease ends later than that from now, it was written before the clock was set back. */
export const LEASE_MAX_MS = 30_000;

/** A name of fixed length for parts of any length. It does not show them. */
function nameOfParts(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/** Names of what a provider can end: sessions with a `sid`, and all of a person. */
export function sidName(provider: string, sid: string): string {
  return nameOfParts('sid', provider, sid);
}
export function personName(provider: string, subject: string): string {
  return nameOfParts('sub', provider, subject);
}
export function tokenName({ provider, jti }: Pick<ProviderLogout, 'provider' | 'jti'>): string {
  return nameOfParts('jti', provider, jti);
}

const recordName = (hash: string) => `session ${hash}`;

/** The columns that change with the tokens. */
export interface TokenColumns {
  readonly sealedTokens: string;
  readonly accessLivesMs: number;
  readonly refreshable: boolean;
}

export function tokenColumns(keys: KeyRing, hash: string, tokens: IssuedTokens): TokenColumns {
  const { accessToken, refreshToken, idToken, accessLivesMs } = tokens;
  return {
    sealedTokens: keys.seal(JSON.stringify([accessToken, refreshToken ?? null, idToken ?? null]), recordName(hash)),
    accessLivesMs: Math.floor(accessLivesMs),
    refreshable: refreshToken !== undefined,
  };
}

/** Throws a sentence. */
export function openTokens(keys: KeyRing, { id, hash, sealedTokens }: Session): SessionTokens {
  try {
    const [accessToken, refreshToken, idToken] = JSON.parse(keys.open(sealedTokens, recordName(hash)));
    return { accessToken, refreshToken: refreshToken ?? undefined, idToken: idToken ?? undefined };
  } catch (cause) {
    throw new Error(
      `The tokens of the session ${id} cannot be decrypted: no key in session_keys has sealed them, or they were changed.`,
      { cause },
    );
  }
}

/** The columns of a session that never change, as JSON; the others have columns of their own. */
export function fixedPartOf({ provider, subject, providerSid, organization, claims, device }: NewSession): string {
  return JSON.stringify({ provider, subject, providerSid, organization, claims, device });
}

type FixedPart = Pick<Session, 'provider' | 'subject' | 'providerSid' | 'organization' | 'claims' | 'device'>;

/** Throws if the text is damaged. */
export function readFixedPart(text: string): FixedPart {
  const { provider, subject, providerSid, organization, claims, device } = JSON.parse(text);
  return { provider, subject, providerSid, organization, claims, device };
}
