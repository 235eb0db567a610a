// Verifies the logout tokens of a provider (OpenID Connect Back-Channel Logout 1.0, section 2.6).

import { type JWTPayload, jwtVerify } from 'jose';
import { isSubject } from '../grants.ts';
import type { ProviderKeys } from './provider-keys.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const LENGTH_MAX = 16_384;
/**
 * The longest time for which a token is accepted, even if its `exp` is later. After this time the gateway forgets the `jti` of the token,
 * and could not detect a replay.
 */
const AGE_MAX_SECONDS = 600;

interface LogoutRules {
  readonly issuer: string;
  readonly clientId: string;
  readonly clockToleranceSeconds: number;
}

export interface LogoutClaims {
  readonly sid: string | undefined;
  readonly subject: string | undefined;
  readonly jti: string;
  /** Until when the token would be accepted again. */
  readonly refusedUntilMs: number;
}

/** Rejects with a reason, or ProviderAway if the keys cannot be read. */
export async function verifyLogoutToken(
  token: string,
  { find, algorithms }: ProviderKeys,
  rules: LogoutRules,
  nowMs: number,
): Promise<LogoutClaims> {
  if (token.length > LENGTH_MAX) throw new Error('it is too long');
  const { payload } = await jwtVerify(token, find, {
    issuer: rules.issuer,
    audience: rules.clientId,
    algorithms,
    requiredClaims: ['iat', 'jti'],
    maxTokenAge: AGE_MAX_SECONDS,
    clockTolerance: rules.clockToleranceSeconds,
    currentDate: new Date(nowMs),
  });
  return claimsOf(payload, rules);
}

function claimsOf(
  { jti, iat = 0, sub, sid, events, nonce }: JWTPayload,
  { clockToleranceSeconds }: LogoutRules,
): LogoutClaims {
  const isLogout = typeof events === 'object' && events !== null && Object.hasOwn(events, EVENT);
  if (!isLogout) throw new Error('it is not a logout token: it has no such event');
  // A nonce shows that this is an ID token, which must not pass for a logout token.
  if (nonce !== undefined) throw new Error('it has a nonce');
  if (typeof jti !== 'string' || jti === '' || jti.length > 255) throw new Error('its jti cannot be used');
  if (sid !== undefined && (typeof sid !== 'string' || sid === '' || sid.length > 255))
    throw new Error('its sid cannot be used');
  if (sub !== undefined && !isSubject(sub)) throw new Error('its sub cannot be used');
  if (sid === undefined && sub === undefined) throw new Error('it names neither a session nor a subject');
  const refusedUntilMs = (iat + AGE_MAX_SECONDS + 2 * clockToleranceSeconds + 1) * 1000;
  return { sid, subject: sub, jti, refusedUntilMs };
}
