// Reads tokens that a configured issuer has signed: `Authorization: Bearer eyJ…`. Throws token_invalid, token_expired, token_audience or
// auth_unavailable.

import { GatewayError } from '../../catalogue/errors.ts';
import type { Caller, Organization } from '../../exchange/caller.ts';
import { newCallerMemory } from '../../exchange/caller-memory.ts';
import { type Awaitable, andThen } from '../../shared/awaitable.ts';
import type { ScopeRules } from '../../shared/contracts/scopes.ts';
import { type CredentialHash, type CredentialReader, parseAuthorization } from '../credentials.ts';
import type { Directory } from '../directory.ts';
import type { Issuer, Issuers } from './issuers.ts';
import { createTokenCache, type KnownToken } from './token-cache.ts';
import { isShortEnough, looksLikeToken, parseToken } from './token-form.ts';
import { grantedScopes } from './token-scopes.ts';
import { type TokenClaims, verifyToken } from './verify-token.ts';

interface TokenReaderOptions {
  readonly issuers: Pick<Issuers, 'find' | 'count'>;
  readonly directory: Pick<Directory, 'organizationOf'>;
  /** Returns the scopes that the token and the issuer have to name, as one object for each configuration. */
  scopeRules(): ScopeRules;
  readonly cacheMax: number;
  now(): number;
}

interface TokenReader {
  /** Returns the same caller for the same token until its organization changes. If no issuers are configured, no credential is a token. */
  readonly readToken: CredentialReader;
  /** Whether the token in an Authorization header is cached and valid. Does not contact the store or an issuer. */
  isKnown(authorization: string | undefined): boolean;
  size(): number;
}

export function createTokenReader(options: TokenReaderOptions): TokenReader {
  const { issuers, directory, scopeRules, cacheMax, now } = options;
  const cache = createTokenCache({ max: cacheMax });

  /**
   * Returns the caller of a cached token. This costs a few comparisons, because the directory returns one object until an organization
   * changes.
   */
  function use(known: KnownToken): Awaitable<Caller> {
    if (known.claims.expiresAtMs <= now()) throw new GatewayError('token_expired');
    return andThen(directory.organizationOf(known.claims.organization), (found) => refreshedCaller(known, found));
  }

  /** Returns the caller of a token. Makes another one if the organization or the rules have changed. */
  function refreshedCaller(known: KnownToken, found: Organization | undefined): Caller {
    const organization = requireOrganization(found);
    const rules = scopeRules();
    if (known.caller.organization !== organization || known.scopeRules !== rules) {
      known.scopeRules = rules;
      known.caller = callerFrom(known.claims, known.issuer, organization, rules);
    }
    return known.caller;
  }

  async function learn(token: string, tokenHash: CredentialHash): Promise<Caller> {
    const { issuer, key } = await keyFor(token, issuers);
    const claims = await verifyToken(token, key, issuer, now());
    const organization = requireOrganization(await directory.organizationOf(claims.organization));
    const rules = scopeRules();
    const caller = callerFrom(claims, issuer, organization, rules);
    const known = cache.remember(tokenHash, {
      issuer,
      claims,
      caller,
      keyId: key.id,
      keys: undefined,
      scopeRules: rules,
    });
    return refreshedCaller(known, organization);
  }

  return {
    readToken({ scheme, value }) {
      if (scheme !== 'bearer' || issuers.count === 0 || !looksLikeToken(value)) return undefined;
      if (!isShortEnough(value)) throw new GatewayError('token_invalid', { hint: 'form' });
      const tokenHash = cache.hashOf(value);
      const known = cache.find(tokenHash);
      return known === undefined ? learn(value, tokenHash) : use(known);
    },
    isKnown(authorization) {
      const credentials = parseAuthorization(authorization);
      if (credentials?.scheme !== 'bearer' || !looksLikeToken(credentials.value)) return false;
      const known = cache.find(cache.hashOf(credentials.value));
      return known !== undefined && known.claims.expiresAtMs > now() && known.caller.organization?.state === 'active';
    },
    size: cache.size,
  };
}

/** Finds the issuer and the key of a token, and refuses everything that can be refused without checking the signature. */
async function keyFor(token: string, issuers: Pick<Issuers, 'find'>) {
  const { issuer: iss, algorithm, kid } = parseToken(token);
  const issuer = issuers.find(iss);
  if (issuer === undefined) throw new GatewayError('token_invalid', { hint: 'issuer' });
  if (!issuer.algorithms.includes(algorithm)) throw new GatewayError('token_invalid', { hint: 'algorithm' });
  return { issuer, key: await issuer.keys.find(kid, algorithm) };
}

function requireOrganization(organization: Organization | undefined): Organization {
  if (organization === undefined) throw new GatewayError('token_invalid', { hint: 'organization' });
  return organization;
}

function callerFrom(
  { subject, scopes, expiresAtMs }: TokenClaims,
  { name, mode, scopesMax }: Issuer,
  organization: Organization,
  scopeRules: ScopeRules,
): Caller {
  const bounds = { scopesMax, scopeRules, operator: organization.operator };
  return Object.freeze({
    subject,
    scheme: 'apiKey',
    issuer: name,
    organization,
    mode,
    scopes: grantedScopes(scopes, bounds),
    revoked: false,
    expiresAtMs,
    allowsAddress: undefined,
    memory: newCallerMemory(),
  });
}
