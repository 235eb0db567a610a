// Shared code of both session stores: names that reveal nothing about a person, sealed tokens, and times that follow from durations.

import { createHash } from 'node:crypto';
import type { KeyRing } from '../../shared/stores/seal.ts';
import type { IssuedTokens, NewSession, ProviderLogout, Session, SessionTokens } from './session-store.ts';

/** How long the stores remember logouts of providers for logins in progress. A login that began earlier is refused. */
export const LOGIN_MAX_MS = 15 * 60_000;
/** Maximum number of ends in the log of ends. */
export const ENDS_MAX = 10_000;
/** The interval at which uses of a session are written, as a part of its idle time, and the longest interval. */
export const USE_GRAIN = { part: 0.1, most: 60_000 } as const;
/**
 * How long a session is kept after its idle end. An instance may know of a later use that is not written yet. The store must still have
 * this session, because otherwise it could not be ended. The five seconds are for the writing.
 */
export const IDLE_SLACK_MS = USE_GRAIN.most + 5000;

/** The longest lease. A stored lease that ends later than this from now was written before the clock was set back. */
export const LEASE_MAX_MS = 30_000;

/** Returns a name of fixed length, which reveals nothing about its parts. */
function nameOfParts(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/** Names of what a provider can end: the sessions with one `sid` (`sidName`), or all sessions of a person (`personName`). */
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

/** Throws an Error for operators. */
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

/** Returns the members of a session that never change, as JSON. */
export function fixedPartOf({ provider, subject, providerSid, organization, claims, device }: NewSession): string {
  return JSON.stringify({ provider, subject, providerSid, organization, claims, device });
}

type FixedPart = Pick<Session, 'provider' | 'subject' | 'providerSid' | 'organization' | 'claims' | 'device'>;

/** Throws if the text is damaged. */
export function readFixedPart(text: string): FixedPart {
  const { provider, subject, providerSid, organization, claims, device } = JSON.parse(text);
  return { provider, subject, providerSid, organization, claims, device };
}
