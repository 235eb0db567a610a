// Converts stored keys and organizations into cached objects. The objects are frozen, because one object serves every request until its
// record changes.

import type { Caller, Organization } from '../exchange/caller.ts';
import { newCallerMemory } from '../exchange/caller-memory.ts';
import { scopeSetOf } from '../shared/contracts/scopes.ts';
import { allowanceOf } from './address-ranges.ts';
import type { KeyAndOwner } from './store/stored-key.ts';

export function toKnownOrganization(organization: Organization): Organization {
  return Object.freeze({ ...organization, contacts: Object.freeze([...organization.contacts]) });
}

export function toCaller({ key, organization }: KeyAndOwner): Caller {
  return Object.freeze({
    subject: key.id,
    scheme: 'apiKey',
    issuer: undefined,
    organization: toKnownOrganization(organization),
    mode: key.mode,
    scopes: scopeSetOf(key.scopes),
    revoked: key.revokedAtMs !== undefined,
    expiresAtMs: key.expiresAtMs ?? Number.POSITIVE_INFINITY,
    allowsAddress: allowanceOf(key.allowedCidrs),
    memory: newCallerMemory(),
  });
}
