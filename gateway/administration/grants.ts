// Checks that a key grants only rights that it has. Pure. Throws grant_not_held.

import { isRangeWithin } from '../auth/address-ranges.ts';
import { GatewayError } from '../catalogue/errors.ts';
import { isCoveredByAll, type ScopeRules } from '../shared/contracts/scopes.ts';
import type { Grants } from './actor.ts';

/** The rights that the created or changed key would have. */
export interface GrantedRights {
  readonly scopes: readonly string[];
  readonly allowedCidrs: readonly string[];
  /** The expiry of the key, epoch milliseconds; undefined if it does not expire. */
  readonly expiresAtMs: number | undefined;
}

/** Throws grant_not_held with the member that exceeds the rights of the acting key. */
export function requireHeld(may: Grants, granted: GrantedRights, rules: ScopeRules): void {
  const missing = granted.scopes.filter((scope) => !holdsScope(may, scope, rules));
  if (missing.length > 0) throw notHeld('scopes', 'scopes', { required_scopes: missing });
  if (!holdsAddresses(may, granted.allowedCidrs)) throw notHeld('allowed_cidrs', 'addresses');
  if ((granted.expiresAtMs ?? Number.POSITIVE_INFINITY) > may.expiresAtMs) throw notHeld('expires_at', 'end');
}

/** Whether the grants include the scope. `*` includes itself and the scopes that `*` covers when a request is authorized. */
function holdsScope({ scopes }: Grants, scope: string, rules: ScopeRules): boolean {
  return scopes.has(scope) || (scopes.has('*') && isCoveredByAll(rules, scope));
}

function holdsAddresses({ allowedCidrs: own }: Grants, granted: readonly string[]): boolean {
  if (own.length === 0) return true;
  // No range means any address.
  return granted.length > 0 && granted.every((range) => own.some((outer) => isRangeWithin(range, outer)));
}

export function notHeld(param: string, hint: string, fields: Readonly<Record<string, unknown>> = {}): GatewayError {
  return new GatewayError('grant_not_held', { fields: { param, ...fields }, hint });
}

type ScopeMistake = { readonly kind: 'unknown' | 'operators_only'; readonly scope: string };

/** Returns the first scope that no operation knows, or that the organization may not have; undefined if there is none. */
export function scopeMistakeOf(
  scopes: readonly string[],
  { operator }: { readonly operator: boolean },
  known: ReadonlySet<string>,
  { operatorScopes }: ScopeRules,
): ScopeMistake | undefined {
  const unknown = scopes.find((scope) => scope !== '*' && !known.has(scope));
  if (unknown !== undefined) return { kind: 'unknown', scope: unknown };
  const forbidden = operator ? undefined : scopes.find((scope) => operatorScopes.has(scope));
  return forbidden === undefined ? undefined : { kind: 'operators_only', scope: forbidden };
}
