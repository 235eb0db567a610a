// The rules for the scopes, addresses and expiry of a key, and for the changes that its state allows. Throws validation_failed,
// reference_missing, grant_not_held, invalid_transition.

import { isAddressRange } from '../auth/address-ranges.ts';
import { hasExpired, type StoredKey } from '../auth/store/stored-key.ts';
import { GatewayError } from '../catalogue/errors.ts';
import { type Configuration, scopeRulesOf } from '../configuration.ts';
import { toFields, type Violation, violationInBody } from '../contract/violations/violations.ts';
import type { Organization } from '../exchange/caller.ts';
import type { ViolationCode } from '../shared/contracts/violation-codes.ts';
import { notHeld, scopeMistakeOf } from './grants.ts';

/** Throws unless each scope exists and the organization may hold it. */
export function requireKnownScopes(
  scopes: readonly string[],
  organization: Pick<Organization, 'operator'>,
  configuration: Configuration,
): void {
  const mistake = scopeMistakeOf(scopes, organization, configuration.contracts.scopes, scopeRulesOf(configuration));
  if (mistake === undefined) return;
  if (mistake.kind === 'operators_only') throw notHeld('scopes', 'operators', { required_scopes: [mistake.scope] });
  throw new GatewayError('reference_missing', { fields: { param: `scopes[${scopes.indexOf(mistake.scope)}]` } });
}

export function requireRanges(ranges: readonly string[]): void {
  const violations = ranges.flatMap((range, index) =>
    isAddressRange(range)
      ? []
      : [violation(`/allowed_cidrs/${index}`, 'wrong_format', 'Must be an address or a CIDR range of IPv4 or IPv6.')],
  );
  if (violations.length > 0) throw new GatewayError('validation_failed', { fields: toFields(violations) });
}

export function requireFuture(expiresAtMs: number | undefined, nowMs: number): void {
  if (!hasExpired({ expiresAtMs }, nowMs)) return;
  const past = violation('/expires_at', 'too_small', 'Must be in the future.');
  throw new GatewayError('validation_failed', { fields: toFields([past]) });
}

/** Throws if the change would make a revoked or expired key work again, or would let a replaced key work longer than its overlap. */
export function requireChangeable(before: StoredKey, after: StoredKey, nowMs: number): void {
  const isOver = before.revokedAtMs !== undefined || hasExpired(before, nowMs);
  if (isOver || (before.replacedBy !== undefined && endOf(after) > endOf(before)))
    throw new GatewayError('invalid_transition');
}

function endOf({ expiresAtMs }: Pick<StoredKey, 'expiresAtMs'>): number {
  return expiresAtMs ?? Number.POSITIVE_INFINITY;
}

function violation(pointer: string, code: ViolationCode, message: string): Violation {
  return violationInBody(pointer, { code, message });
}
