// Verifies a token with its issuer's key and returns its claims. Throws token_invalid, token_expired or token_audience.

import { errors, type JWTPayload, jwtVerify } from 'jose';
import { GatewayError } from '../../catalogue/errors.ts';
import type { VerifyingKey } from './issuer-key-set.ts';
import { parseScopes } from './token-scopes.ts';

/**
 * Excludes the form of a key id, because upstreams receive key ids and subjects of tokens under one name, and must not mistake one for the
 * other.
 */
const SUBJECT = /^(?!key_)[!-~]{1,255}$/;
const ORGANIZATION_LENGTH_MAX = 255;
/** The latest accepted expiry, in the year 5138. A later one was written in milliseconds by mistake, and would never pass. */
const EXPIRY_MAX = 1e11;

export interface TokenRules {
  /** Required value of `iss`, compared exactly. */
  readonly issuer: string;
  /** Required value of `aud`, alone or in its list. */
  readonly audience: string;
  /** Names of the claims. */
  readonly claims: { readonly organization: string; readonly scopes: string };
  readonly clockToleranceSeconds: number;
}

export interface TokenClaims {
  readonly subject: string;
  /** Organization id; not checked here to exist. */
  readonly organization: string;
  readonly scopes: readonly string[];
  /** Epoch milliseconds from which the token is refused, clock tolerance included. */
  readonly expiresAtMs: number;
}

/** Checks signature, issuer, audience, times and required claims (RFC 7519 section 4, RFC 8725 section 3). */
export async function verifyToken(
  token: string,
  { key, algorithm }: VerifyingKey,
  rules: TokenRules,
  nowMs: number,
): Promise<TokenClaims> {
  const { payload } = await jwtVerify(token, key, {
    algorithms: [algorithm],
    issuer: rules.issuer,
    audience: rules.audience,
    requiredClaims: ['sub', 'exp'],
    clockTolerance: rules.clockToleranceSeconds,
    currentDate: new Date(nowMs),
  }).catch(refuse);
  return toClaims(payload, rules, nowMs);
}

function toClaims(payload: JWTPayload, rules: TokenRules, nowMs: number): TokenClaims {
  const { sub: subject, exp = Number.NaN, iat = 0 } = payload;
  const organization = ownMember(payload, rules.claims.organization);
  const scopes = parseScopes(ownMember(payload, rules.claims.scopes));
  const sound = isSubject(subject) && isOrganizationId(organization) && scopes !== undefined && exp <= EXPIRY_MAX;
  if (!sound) throw new GatewayError('token_invalid', { hint: 'claims' });
  if (iat > Math.floor(nowMs / 1000) + rules.clockToleranceSeconds) {
    throw new GatewayError('token_invalid', { hint: 'not_yet' });
  }
  return { subject, organization, scopes, expiresAtMs: (Math.ceil(exp) + rules.clockToleranceSeconds) * 1000 };
}

/** Reads a claim by its configured name, which may equal the name of a member that every object inherits. */
function ownMember(payload: JWTPayload, name: string): unknown {
  return Object.hasOwn(payload, name) ? payload[name] : undefined;
}

function isSubject(claim: unknown): claim is string {
  return typeof claim === 'string' && SUBJECT.test(claim);
}

function isOrganizationId(claim: unknown): claim is string {
  return typeof claim === 'string' && claim !== '' && claim.length <= ORGANIZATION_LENGTH_MAX;
}

/** Maps the library's errors to the error catalogue. */
function refuse(cause: unknown): never {
  if (cause instanceof errors.JWTExpired) throw new GatewayError('token_expired', { cause });
  if (cause instanceof errors.JWTClaimValidationFailed) refuseClaim(cause);
  const isForged = cause instanceof errors.JWSSignatureVerificationFailed;
  // No other library error can be the gateway's fault. Key and algorithm fit, so the token itself is unreadable.
  if (cause instanceof errors.JOSEError) {
    throw new GatewayError('token_invalid', { hint: isForged ? 'signature' : 'form', cause });
  }
  throw cause;
}

function refuseClaim(cause: errors.JWTClaimValidationFailed): never {
  const isUnmet = cause.reason === 'check_failed';
  if (isUnmet && cause.claim === 'aud') throw new GatewayError('token_audience', { cause });
  const hint = isUnmet && cause.claim === 'nbf' ? 'not_yet' : 'claims';
  throw new GatewayError('token_invalid', { hint, cause });
}
