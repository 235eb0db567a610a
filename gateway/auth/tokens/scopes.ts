// What a token may do: what it asks for, as far as its issuer and its organization may have it. Pure.

/** One scope (RFC 6749 section 3.3). */
const SCOPE = /^[!#-[\]-~]+$/;

export interface ScopeBounds {
  /** The most that tokens of the issuer are granted; `*`: everything but operator scopes. */
  readonly scopesMax: readonly string[];
  /** Scopes that `*` never covers. */
  readonly operatorScopes: ReadonlySet<string>;
  /** Whether the organization may hold operator scopes. */
  readonly operator: boolean;
}

/** The claim: one text with spaces between, or a list of texts; without it nothing is asked for. Undefined: it is neither. */
export function parseScopes(claim: unknown): readonly string[] | undefined {
  if (claim === undefined) return [];
  const scopes = typeof claim === 'string' ? claim.split(' ').filter((scope) => scope !== '') : claim;
  return Array.isArray(scopes) && scopes.every(isScope) ? scopes : undefined;
}

/** A `*` that is asked for stands for all that is granted without being named. */
export function grantedScopes(
  wanted: readonly string[],
  { scopesMax, operatorScopes, operator }: ScopeBounds,
): ReadonlySet<string> {
  const isGranted = (scope: string) =>
    operatorScopes.has(scope)
      ? operator && scopesMax.includes(scope)
      : scopesMax.includes(scope) || scopesMax.includes('*');
  const unnamed = wanted.includes('*') ? scopesMax.filter((scope) => !operatorScopes.has(scope)) : [];
  return new Set([...unnamed, ...wanted.filter((scope) => scope !== '*' && isGranted(scope))]);
}

function isScope(scope: unknown): scope is string {
  return typeof scope === 'string' && SCOPE.test(scope);
}
