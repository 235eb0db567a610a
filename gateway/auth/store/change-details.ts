// Makes the details of a change for the audit log: the members before and after, in the form of the gateway's contract, and the request.

import type { Organization } from '../../exchange/caller.ts';
import { membersOfKey } from '../key-json.ts';
import type { Author, ChangeKind, OrganizationPatch } from './key-store.ts';
import type { StoredKey } from './stored-key.ts';

type Members = Readonly<Record<string, unknown>>;

export function authorNameOf(author: Author): string {
  return typeof author === 'string' ? author : author.by;
}

/** Adds the id of the author's request and the author's organization, if the author has them. */
export function detailsBy(author: Author, details: Members): Members {
  if (typeof author === 'string') return details;
  const { requestId, organization } = author;
  return {
    ...details,
    ...(requestId !== undefined && { request_id: requestId }),
    ...(organization !== undefined && { by_organization: organization }),
  };
}

export function ofNewOrganization({ id: _, ...organization }: Organization): Members {
  const { name, tier, operator } = organization;
  return { name, tier, operator, after: organization };
}

export function ofNewKey(key: StoredKey): Members {
  const { mode, name, scopes, expiresAtMs } = key;
  const { allowed_cidrs, expires_at } = membersOfKey(key);
  const after = { mode, name, scopes, allowed_cidrs, expires_at };
  return { mode, name, scopes, expires_at: expiresAtMs ?? null, after };
}

/** Returns the changed members; undefined if nothing has changed. */
export function ofChangedKey(before: StoredKey, after: StoredKey): Members | undefined {
  return differencesOf(membersOfKey(before), membersOfKey(after));
}

/** Returns the changed members; undefined if nothing has changed. A change of the tier also names both tiers. */
export function ofChangedOrganization(before: Organization, after: Organization): Members | undefined {
  const differences = differencesOf({ ...before }, { ...after });
  return before.tier === after.tier ? differences : { from: before.tier, to: after.tier, ...differences };
}

export function changeKindOf(patch: OrganizationPatch): ChangeKind {
  return patch.contacts === undefined ? 'organization.tier_changed' : 'organization.changed';
}

export function ofRevokedKey(reason: string | undefined, hadExpired: boolean): Members {
  return {
    reason: reason ?? null,
    before: { state: hadExpired ? 'expired' : 'active' },
    after: { state: 'revoked' },
  };
}

export function ofRotatedKey(before: StoredKey, after: StoredKey): Members {
  return { successor: after.replacedBy, ends_at: after.expiresAtMs, ...ofChangedKey(before, after) };
}

/** Returns the members whose values differ, before and after. */
function differencesOf(before: Members, after: Members): Members | undefined {
  const names = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  if (names.length === 0) return undefined;
  const pick = (members: Members) => Object.fromEntries(names.map((name) => [name, members[name]]));
  return { before: pick(before), after: pick(after) };
}
