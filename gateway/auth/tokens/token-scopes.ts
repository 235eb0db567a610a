// Computes the scopes of a token: the scopes that it claims, limited to the scopes that its issuer and its organization may have. Pure.

import { isCoveredByAll, type ScopeRules, scopeSetOf } from '../../shared/contracts/scopes.ts';

/** One scope (RFC 6749 section 3.3). */
const SCOPE = /^[!#-[\]-~]+$/;

interface ScopeBounds {
  /** The scopes that tokens of the issuer may be granted; `*` stands for all scopes except operator scopes. */
  readonly scopesMax: readonly string[];
  /** Which scopes `*` never covers. */
  readonly scopeRules: ScopeRules;
  readonly operator: boolean;
}

/**
 * Parses the claim: one text separated by spaces, or a list of texts. An absent claim means no scopes. Returns undefined for any other
 * type.
 */
export function parseScopes(claim: unknown): readonly string[] | undefined {
  if (claim === undefined) return [];
  const scopes = typeof claim === 'string' ? claim.split(' ').filter((scope) => scope !== '') : claim;
  return Array.isArray(scopes) && scopes.every(isScope) ? scopes : undefined;
}

/** Returns the granted scopes. A claimed `*` means all scopes of the issuer, except operator scopes. */
export function grantedScopes(
  wanted: readonly string[],
  { scopesMax, scopeRules, operator }: ScopeBounds,
): ReadonlySet<string> {
  const isGranted = (scope: string) =>
    (scopesMax.includes(scope) && (operator || !scopeRules.operatorScopes.has(scope))) ||
    (scopesMax.includes('*') && isCoveredByAll(scopeRules, scope));
  const unnamed = wanted.includes('*') ? scopesMax.filter((scope) => isCoveredByAll(scopeRules, scope)) : [];
  return scopeSetOf([...unnamed, ...wanted.filter((scope) => scope !== '*' && isGranted(scope))]);
}

function isScope(scope: unknown): scope is string {
  return typeof scope === 'string' && SCOPE.test(scope);
}
