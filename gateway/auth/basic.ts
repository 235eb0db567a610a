// Reads user name and password (RFC 7617), for operations that accept them. User name and password must equal the credential with which the
// gateway authenticates at the upstream, so such a client is an administrator of the upstream. The gateway compares the two, and sends no
// guess to the upstream. Throws basic_credentials_invalid.

import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../catalogue/errors.ts';
import type { Caller } from '../exchange/caller.ts';
import { newCallerMemory } from '../exchange/caller-memory.ts';
import type { Operation } from '../exchange/operation.ts';
import type { Credentials } from './credentials.ts';

/** The caller of every request with an accepted user name and password. It is the administrator of the operation's upstream. */
export const ADMINISTRATOR: Caller = Object.freeze({
  subject: 'mail-administrator',
  scheme: 'basic',
  issuer: undefined,
  organization: Object.freeze({
    id: 'mail-administrator',
    name: 'Mail administrator',
    tier: 'mail-administrator',
    state: 'active',
    contacts: Object.freeze([]),
    operator: true,
  }),
  mode: 'live',
  scopes: new Set<string>(),
  revoked: false,
  expiresAtMs: Number.POSITIVE_INFINITY,
  allowsAddress: undefined,
  memory: newCallerMemory(),
});

/**
 * Compares credentials with the credential of the gateway at this upstream. Returns false if the gateway has no such credential at this
 * upstream.
 */
export type MatchesBasic = (upstream: string, user: string, password: string) => boolean;

/** Returns undefined for another kind of credential or an operation that does not accept Basic. Throws if the credential is invalid. */
type BasicReader = (credentials: Credentials, operation: Operation) => Caller | undefined;

export function createBasicReader(matches: MatchesBasic): BasicReader {
  return function readBasic({ scheme, value }, { security, upstream }) {
    if (scheme !== 'basic' || !security.some((alternative) => alternative.scheme === 'basic')) return undefined;
    const given = parseUserAndPassword(value);
    if (given === undefined || !matches(upstream, given.user, given.password))
      throw new GatewayError('basic_credentials_invalid');
    return ADMINISTRATOR;
  };
}

interface UserAndPassword {
  readonly user: string;
  readonly password: string;
}

/**
 * Parses Basic credentials: Base64 of UTF-8, user name and password separated by the first colon, no control characters (RFC 7617 section
 * 2). Returns undefined for any other text. Accepts canonical Base64 only, because Node decodes nearly anything.
 */
export function parseUserAndPassword(value: string): UserAndPassword | undefined {
  const bytes = Buffer.from(value, 'base64');
  if (bytes.toString('base64') !== value || !isUtf8(bytes)) return undefined;
  const text = bytes.toString('utf8');
  const colon = text.indexOf(':');
  if (colon === -1 || /\p{Cc}/u.test(text)) return undefined;
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
