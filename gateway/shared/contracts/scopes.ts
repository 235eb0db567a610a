// The rules about scopes that `*` does not include: the scopes of the gateway's own contract, and the operator scopes of gateway.yaml. Also
// the sets of scopes that callers share.

/** The beginning of the scopes of the gateway's own contract. */
const PREFIX = 'gateway:';

/**
 * The scopes of that contract that every organization may hold, because they concern its own records. The account page needs these scopes.
 */
export const ACCOUNT_SCOPES: readonly string[] = ['gateway:read', 'gateway:keys'];

/** Every scope of the gateway's own contract. A misspelt scope is found by this list. */
export const GATEWAY_SCOPES: readonly string[] = [
  ...ACCOUNT_SCOPES,
  ...['organizations', 'keys', 'limits', 'upstreams', 'alerts', 'sessions'].flatMap((what) => [
    `${PREFIX}${what}:read`,
    `${PREFIX}${what}:write`,
  ]),
  ...['usage', 'deprecations', 'certificates', 'configuration', 'audit'].map((what) => `${PREFIX}${what}:read`),
];

export function isGatewayScope(scope: string): boolean {
  return scope.startsWith(PREFIX);
}

export interface ScopeRules {
  /** Scopes that only operator organizations may hold. `*` does not cover them. */
  readonly operatorScopes: ReadonlySet<string>;
  /** Other scopes that `*` does not cover. */
  readonly namedScopes: ReadonlySet<string>;
}

/**
 * Creates the rules.
 *
 * @param operatorScopes the operator scopes of gateway.yaml
 * @param hasOwnContract whether the gateway serves its own contract. Otherwise no operation needs the scopes of this contract
 */
export function createScopeRules(operatorScopes: readonly string[], hasOwnContract: boolean): ScopeRules {
  const own = hasOwnContract ? GATEWAY_SCOPES : [];
  const named = ACCOUNT_SCOPES.filter((scope) => own.includes(scope));
  return {
    operatorScopes: new Set([...operatorScopes, ...own].filter((scope) => !named.includes(scope))),
    namedScopes: new Set(named),
  };
}

/** Whether one of the alternatives of an operation needs one of the scopes. */
export function needsScopeIn(
  scopes: ReadonlySet<string>,
  { security }: { readonly security: readonly { readonly scopes: readonly string[] }[] },
): boolean {
  return security.some((alternative) => alternative.scopes.some((scope) => scopes.has(scope)));
}

/** Whether `*` stands for the scope, among others. */
export function isCoveredByAll({ operatorScopes, namedScopes }: ScopeRules, scope: string): boolean {
  return !operatorScopes.has(scope) && !namedScopes.has(scope);
}

/** Beyond this number, sets are not shared. */
const SHARED_MAX = 1000;

const shared = new Map<string, ReadonlySet<string>>();

/**
 * Returns the set of these scopes. Callers with the same scopes share one set object, which then stays in the processor's cache from one
 * request to the next.
 *
 * @param scopes without spaces (RFC 6749 section 3.3)
 */
export function scopeSetOf(scopes: readonly string[]): ReadonlySet<string> {
  const name = scopes.join(' ');
  const known = shared.get(name);
  if (known !== undefined) return known;
  const made = new Set(scopes);
  if (shared.size < SHARED_MAX) shared.set(name, made);
  return made;
}
