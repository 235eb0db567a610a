// Stage: identifies the caller. A revoked or expired key is identified here and refused by `authorize`, so that the log names its owner.
// Throws api_key_missing, api_key_misplaced, auth_scheme_unsupported, and the errors of the credential readers: api_key_malformed,
// api_key_invalid, token_invalid, token_expired, token_audience, basic_credentials_invalid, auth_unavailable, session_required,
// cross_site_request, session_expired, session_store_unavailable, provider_unavailable.

import { GatewayError } from '../catalogue/errors.ts';
import type { Caller } from '../exchange/caller.ts';
import { newCallerMemory } from '../exchange/caller-memory.ts';
import { extend, type Identified, type Matched } from '../exchange/exchange.ts';
import { type Awaitable, andThen } from '../shared/awaitable.ts';
import { API_KEY_LENGTH } from './api-key.ts';
import { createBasicReader, type MatchesBasic } from './basic.ts';
import { type CredentialReader, type Credentials, parseAuthorization, withBasicChallenge } from './credentials.ts';
import type { Directory } from './directory.ts';

/** Finds an API key in a query, even if its end is missing, because its owner should replace it. */
const KEY_IN_TEXT = /sk_(?:live|test)_[0-9A-Za-z]{16}/;

/** An Authorization header that consists of a key, or of a key behind a scheme other than Bearer. */
const KEY_WITHOUT_BEARER = /^(?:\S+ +)?sk_(?:live|test)_[0-9A-Za-z]{16}/;

/** Headers in which other gateways expect keys, with the hint of `api_key_missing` for each header. */
const OTHER_HEADERS = [
  ['x-api-key', 'x_api_key'],
  ['api-key', 'api_key'],
  ['apikey', 'apikey'],
] as const;

/** The caller of every request to a public operation. */
export const ANONYMOUS: Caller = Object.freeze({
  subject: 'anonymous',
  scheme: 'apiKey',
  issuer: undefined,
  organization: undefined,
  mode: 'live',
  scopes: new Set<string>(),
  revoked: false,
  expiresAtMs: Number.POSITIVE_INFINITY,
  allowsAddress: undefined,
  memory: newCallerMemory(),
});

/** The readers of the kinds of credentials. */
export interface CredentialReaders {
  readonly directory: Pick<Directory, 'callerOf'>;
  /** auth/tokens/token-reader.ts */
  readonly readToken: CredentialReader;
  /** Compares a user name and password with the credential of the upstream. upstream/credentials/credential.ts */
  readonly matchesBasic: MatchesBasic;
  /**
   * Returns the caller of a session cookie; undefined if the request has none (sessions/session-reader.ts). The function is absent if
   * people cannot sign in.
   */
  readonly readSession?: ((matched: Matched) => Awaitable<Caller> | undefined) | undefined;
}

export function createAuthenticate({ directory, readToken, matchesBasic, readSession }: CredentialReaders) {
  const readBasic = createBasicReader(matchesBasic);

  function read(matched: Matched): Awaitable<Caller> {
    const credentials = parseAuthorization(matched.headers.get('authorization'));
    // A browser adds the cookie to every request. An Authorization header has priority, because a page sends it on purpose.
    if (credentials === undefined) return readSession?.(matched) ?? refuseWithout(matched);
    // The first reader that recognises the credential decides. The API key reader takes every Bearer, so it comes after the token reader.
    const caller =
      readToken(credentials) ?? readApiKey(credentials, directory) ?? readBasic(credentials, matched.operation);
    if (caller === undefined) throw unsupportedScheme(matched);
    return caller;
  }

  /** Returns no promise, unless the caller must be looked up in the store. */
  return function authenticate(matched: Matched): Awaitable<Identified> {
    if (matched.operation.security.length === 0) return identify(matched, ANONYMOUS);
    try {
      const caller = read(matched);
      if (!(caller instanceof Promise)) return identify(matched, caller);
      return caller.then(
        (known) => identify(matched, known),
        (thrown) => {
          throw withBasicChallenge(thrown, matched.operation);
        },
      );
    } catch (thrown) {
      throw withBasicChallenge(thrown, matched.operation);
    }
  };
}

function identify(matched: Matched, caller: Caller): Identified {
  matched.trail.caller = caller;
  const identified = extend<Matched, Pick<Identified, 'caller'>>(matched);
  identified.caller = caller;
  return identified;
}

/** Takes every Bearer credential that the readers before it have left. Throws api_key_malformed, api_key_invalid or auth_unavailable. */
export function readApiKey(
  { scheme, value }: Credentials,
  directory: Pick<Directory, 'callerOf'>,
): Awaitable<Caller> | undefined {
  if (scheme !== 'bearer') return undefined;
  if (value.length !== API_KEY_LENGTH) throw new GatewayError('api_key_malformed');
  return andThen(directory.callerOf(value), requireCaller);
}

function requireCaller(caller: Caller | undefined): Caller {
  if (caller === undefined) throw new GatewayError('api_key_invalid');
  return caller;
}

/** Refuses a request without credentials. The error code tells a page that a person can sign in, and a program that it needs a key. */
function refuseWithout({ query, operation, headers }: Matched): never {
  if (holdsKey(query)) throw new GatewayError('api_key_misplaced');
  const { security } = operation;
  const takesSessions = security.some(({ scheme }) => scheme === 'session');
  const takesOthers = security.some(({ scheme }) => scheme !== 'session');
  const isPage = takesSessions && (!takesOthers || headers.has('sec-fetch-site'));
  if (isPage) throw new GatewayError('session_required');
  const seen = OTHER_HEADERS.find(([name]) => headers.has(name));
  throw new GatewayError('api_key_missing', seen === undefined ? {} : { hint: seen[1] });
}

/** A key without the word "Bearer" is a common mistake. The key itself is never part of the answer. */
function unsupportedScheme({ headers, operation }: Matched): GatewayError {
  const isKey = KEY_WITHOUT_BEARER.test(headers.get('authorization') ?? '');
  const takesKeys = operation.security.some(({ scheme }) => scheme === 'apiKey');
  return new GatewayError('auth_scheme_unsupported', isKey && takesKeys ? { hint: 'bearer' } : {});
}

function holdsKey(query: string): boolean {
  return query.includes('sk_') && KEY_IN_TEXT.test(query);
}
