// Reads the credential kind "user name and password" (RFC 7617), where an operation accepts it: whoever knows what the gateway itself logs
// in with at the upstream is its administrator. Compared here, so that no guess reaches the upstream. Throws basic_credentials_invalid.

import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../errors.ts';
import type { Caller, Operation } from '../exchange.ts';
import type { Credentials } from './credentials.ts';

/** Whoever is let in by user name and password. Which upstream it was is known by the operation. */
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
});

/** Whether these are what the gateway logs in with at this upstream; false for one that it does not log in at. */
export type MatchesBasic = (upstream: string, user: string, password: string) => boolean;

/** Undefined: another kind of credential, or one that the operation does not accept. A caller: it holds. Throws: it does not hold. */
export type BasicReader = (credentials: Credentials, operation: Operation) => Caller | undefined;

export function createBasicReader(matches: MatchesBasic): BasicReader {
  return function readBasic({ scheme, value }, { security, upstream }) {
    if (scheme !== 'basic' || !security.some((alternative) => alternative.scheme === 'basic')) return undefined;
    const given = parseUserAndPassword(value);
    if (given === undefined || !matches(upstream, given.user, given.password))
      throw new GatewayError('basic_credentials_invalid');
    return ADMINISTRATOR;
  };
}

export interface UserAndPassword {
  readonly user: string;
  readonly password: string;
}

/**
 * What Basic carries: Base64 of UTF-8, user name and password separated by the first colon, no control characters (RFC 7617 section 2).
 * Undefined: it is not that. Nothing but the one proper encoding is accepted, since Node decodes nearly anything.
 */
export function parseUserAndPassword(value: string): UserAndPassword | undefined {
  const bytes = Buffer.from(value, 'base64');
  if (bytes.toString('base64') !== value || !isUtf8(bytes)) return undefined;
  const text = bytes.toString('utf8');
  const colon = text.indexOf(':');
  if (colon === -1 || /\p{Cc}/u.test(text)) return undefined;
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
