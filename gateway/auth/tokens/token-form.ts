// Parses the form of a token: a signed JSON Web Token in compact serialization (RFC 7515 section 7.1). Its contents are not verified here.

import { decodeJwt, decodeProtectedHeader } from 'jose';
import { GatewayError } from '../../catalogue/errors.ts';

const LENGTH_MAX = 8192;
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.([A-Za-z0-9_-]+)$/;
/** RFC 7519 section 5.1 and RFC 9068 section 2.1. */
const TYPE = /^(application\/)?(at\+)?jwt$/i;

/** The parts of a token that determine how to verify it. */
interface TokenForm {
  readonly issuer: string;
  readonly algorithm: string;
  readonly kid: string | undefined;
}

/** Whether a Bearer credential is meant as a token, because it contains dots and does not begin like an API key. */
export function looksLikeToken(text: string): boolean {
  return text.includes('.') && !text.startsWith('sk_');
}

export function isShortEnough(token: string): boolean {
  return token.length <= LENGTH_MAX;
}

/** Reads the header, and only the issuer from the claims. Throws token_invalid. */
export function parseToken(token: string): TokenForm {
  const signature = COMPACT.exec(token)?.[1];
  if (signature === undefined || !isCanonical(signature)) throw new GatewayError('token_invalid', { hint: 'form' });
  const { header, claims } = decode(token);
  const { alg, kid, typ } = header;
  if (typeof alg !== 'string' || !(kid === undefined || typeof kid === 'string') || !isTypeOfTokens(typ)) {
    throw new GatewayError('token_invalid', { hint: 'form' });
  }
  if (typeof claims.iss !== 'string') throw new GatewayError('token_invalid', { hint: 'issuer' });
  return { issuer: claims.iss, algorithm: alg, kid };
}

function decode(token: string) {
  try {
    return { header: decodeProtectedHeader(token), claims: decodeJwt(token) };
  } catch (cause) {
    throw new GatewayError('token_invalid', { hint: 'form', cause });
  }
}

/** The last character of a signature has spare bits. They must be zero, because otherwise a token would have several spellings. */
function isCanonical(signature: string): boolean {
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
}

function isTypeOfTokens(type: unknown): boolean {
  return type === undefined || (typeof type === 'string' && TYPE.test(type));
}
