// The conditions of a change in the embedded key store, checked inside its transaction.

import { isDeepStrictEqual } from 'node:util';
import { ConditionFailed, type Conditions } from '../key-store.ts';
import type { KeyRows, OrganizationRows } from './rows.ts';

/** Throws ConditionFailed unless these records are as they were read. */
export function requireUnchanged(
  { keys, organizations }: { readonly keys: KeyRows; readonly organizations: OrganizationRows },
  conditions: Conditions,
): void {
  for (const known of conditions.keys ?? []) {
    const lastUsedAtMs = undefined;
    const present = keys.read(known.id);
    if (present === undefined || !isDeepStrictEqual({ ...present, lastUsedAtMs }, { ...known, lastUsedAtMs }))
      throw new ConditionFailed('keys');
  }
  for (const known of conditions.organizations ?? [])
    if (!isDeepStrictEqual(organizations.read(known.id), known)) throw new ConditionFailed('organizations');
}
