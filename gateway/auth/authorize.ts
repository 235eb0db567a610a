// Stage: decides whether the caller may use the operation. Throws api_key_revoked, api_key_expired, token_expired, session_expired,
// ip_not_allowed, account_inactive, auth_scheme_unsupported, insufficient_scope or key_mode_mismatch.

import { type ErrorCode, GatewayError } from '../catalogue/errors.ts';
import type { Caller } from '../exchange/caller.ts';
import { extend, type Identified, type Permitted } from '../exchange/exchange.ts';
import type { Operation, SecurityAlternative } from '../exchange/operation.ts';
import type { ScopeRules } from '../shared/contracts/scopes.ts';
import { withBasicChallenge } from './credentials.ts';

export interface AuthorizeRules {
  /** Scopes that `*` does not include. Among them, operator scopes are for organizations that are marked as operators. */
  readonly scopeRules: ScopeRules;
  /** Whether an operation takes test keys. */
  takesTestKeys(operation: Operation): boolean;
}

interface AuthorizeOptions extends AuthorizeRules {
  now(): number;
}

/** Whether a caller holds scopes. */
function createHolds({ operatorScopes, namedScopes }: ScopeRules) {
  function lacks(caller: Caller, scope: string): boolean {
    if (operatorScopes.has(scope)) return !(caller.scopes.has(scope) && caller.organization?.operator);
    return !(caller.scopes.has(scope) || (caller.scopes.has('*') && !namedScopes.has(scope)));
  }

  function hasAll(caller: Caller, scopes: readonly string[]): boolean {
    for (const scope of scopes) if (lacks(caller, scope)) return false;
    return true;
  }

  return { lacks, hasAll };
}

/**
 * Returns a function that tells whether a caller may use an operation, by the rules of `authorize`. It does not check whether the caller's
 * key or organization is active.
 */
export function createMayUse({ scopeRules, takesTestKeys }: AuthorizeRules) {
  const { hasAll } = createHolds(scopeRules);
  return function mayUse(caller: Caller, operation: Operation): boolean {
    const { security } = operation;
    if (security.length === 0) return true;
    if (caller.mode === 'test' && !takesTestKeys(operation)) return false;
    return security.some(({ scheme, scopes }) => scheme === caller.scheme && hasAll(caller, scopes));
  };
}

/**
 * Creates the stage. No other function creates `Permitted`. The stage caches nothing, because a decision takes 20 ns, less than a look-up.
 */
export function createAuthorize({ scopeRules, takesTestKeys, now }: AuthorizeOptions) {
  const { lacks, hasAll } = createHolds(scopeRules);
  const { operatorScopes } = scopeRules;

  function requireScopes(caller: Caller, { security }: Operation): void {
    if (security.length === 0) return;
    const { scheme } = caller;
    for (const way of security) if (way.scheme === scheme && hasAll(caller, way.scopes)) return;
    const [first, ...others] = security.filter((way) => way.scheme === scheme);
    // No scope would help, because the operation accepts only other kinds of credentials.
    if (first === undefined) throw new GatewayError('auth_scheme_unsupported');
    // The refusal names the alternative of which the caller lacks the fewest scopes.
    const missing = ({ scopes }: SecurityAlternative) => scopes.filter((scope) => lacks(caller, scope)).length;
    const nearest = others.reduce((best, next) => (missing(next) < missing(best) ? next : best), first);
    const isForOperators = !caller.organization?.operator && nearest.scopes.some((scope) => operatorScopes.has(scope));
    throw new GatewayError('insufficient_scope', {
      fields: { required_scopes: nearest.scopes },
      // No key of this organization can get these scopes.
      ...(isForOperators && { hint: 'operators' }),
    });
  }

  function check({ caller, operation, clientAddress }: Identified): void {
    const refusal = callerRefusal(caller, clientAddress, now());
    if (refusal !== undefined) throw new GatewayError(refusal);
    requireScopes(caller, operation);
    if (caller.mode === 'test' && !takesTestKeys(operation)) throw new GatewayError('key_mode_mismatch');
  }

  return function authorize(identified: Identified): Permitted {
    try {
      check(identified);
    } catch (thrown) {
      throw withBasicChallenge(thrown, identified.operation);
    }
    const permitted = extend<Identified, Pick<Permitted, 'permitted'>>(identified);
    permitted.permitted = true;
    return permitted;
  };
}

/** Returns the code with which tunnels and operations refuse a caller; undefined if they accept the caller. */
export function callerRefusal(caller: Caller, clientAddress: string, nowMs: number): ErrorCode | undefined {
  // The key is checked before the organization, because a 401 tells the client that another key would help, and a 403 that no key of this
  // organization would.
  if (caller.revoked) return 'api_key_revoked';
  if (caller.expiresAtMs <= nowMs) return expiryOf(caller);
  if (caller.allowsAddress?.(clientAddress) === false) return 'ip_not_allowed';
  return caller.organization?.state === 'suspended' ? 'account_inactive' : undefined;
}

function expiryOf({ scheme, issuer }: Caller): ErrorCode {
  if (scheme === 'session') return 'session_expired';
  return issuer === undefined ? 'api_key_expired' : 'token_expired';
}
