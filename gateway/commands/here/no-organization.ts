// The sentence about an organization that does not exist, with the id that was meant.

import type { KeyStore } from '../../auth/store/key-store.ts';
import { closest } from '../../shared/mistakes.ts';

/** Organizations among which a misspelt id is looked for, so that a store with a million of them answers at once. */
const SEARCHED_MAX = 1000;
/** Edits of a misspelt id. */
const EDITS_MAX = 2;

export async function noOrganization({ organizations }: Pick<KeyStore, 'organizations'>, id: string): Promise<string> {
  const known = await organizations.list({ limit: SEARCHED_MAX });
  const likely = closest(
    id,
    known.map((one) => one.id),
    EDITS_MAX,
  );
  return `There is no organization ${id}.${likely === undefined ? '' : ` Did you mean "${likely}"?`}`;
}
