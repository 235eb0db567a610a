// The credentials of a request (RFC 9110 section 11): parses them, hashes them for caches, and names in a 401 the schemes that are
// accepted.

import { hash } from 'node:crypto';
import { GatewayError } from '../catalogue/errors.ts';
import type { Caller } from '../exchange/caller.ts';
import type { Operation } from '../exchange/operation.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import { REAL_MACHINE } from '../shared/machine.ts';

export interface Credentials {
  /** The scheme in lower case, because its case means nothing. */
  readonly scheme: string;
  /** The text after the scheme; empty if the header has only a scheme. */
  readonly value: string;
}

/** Returns the caller of a valid credential. Returns undefined for another kind of credential. Throws if the credential is invalid. */
export type CredentialReader = (credentials: Credentials) => Awaitable<Caller> | undefined;

/** Parses the Authorization header. Returns undefined if the request carries no credentials. */
export function parseAuthorization(header: string | undefined): Credentials | undefined {
  if (header === undefined || header === '') return undefined;
  // Nearly every request uses exactly this spelling.
  if (header.startsWith('Bearer ')) return { scheme: 'bearer', value: header.slice(7).trimStart() };
  const space = header.indexOf(' ');
  if (space === -1) return { scheme: header.toLowerCase(), value: '' };
  return { scheme: header.slice(0, space).toLowerCase(), value: header.slice(space + 1).trimStart() };
}

/** The hash of a key or token under a secret of this process, so that a memory dump of a cache reveals no credential. */
export type CredentialHash = string;

export function createCredentialHash({ randomBytes } = REAL_MACHINE): (credential: string) => CredentialHash {
  const secret = randomBytes(32).toString('base64');
  return (credential) => hash('sha256', secret + credential, 'base64url');
}

/**
 * Adds the kinds of credentials that the operation accepts to the challenge of a 401. Returns other errors unchanged, and all errors of
 * operations that accept API keys only.
 */
export function withBasicChallenge(thrown: unknown, { security }: Operation): unknown {
  if (!(thrown instanceof GatewayError) || thrown.entry.status !== 401) return thrown;
  if (!security.some(({ scheme }) => scheme === 'basic')) return thrown;
  const basic = security.some(({ scheme }) => scheme === 'apiKey') ? 'also' : 'only';
  return new GatewayError(thrown.code, { ...thrown.details, basic });
}
