// Searches organizations and keys, for operators: by id, by a part of the name, or by the visible end of a key. The search is
// bounded in time, because a store may have a million records.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Organization } from '../exchange/caller.ts';
import type { KeyStore } from './store/key-store.ts';
import type { StoredKey } from './store/stored-key.ts';

interface FoundOrganizations {
  readonly organizations: readonly Organization[];
  /** Keys that the text names, with the organizations above. */
  readonly keys: readonly StoredKey[];
  /** False if there are more results, or if the time ran out before everything was read. */
  readonly complete: boolean;
}

interface SearchOptions {
  readonly store: Pick<KeyStore, 'organizations' | 'keys'>;
  /** Returns monotonic milliseconds. */
  clock(): number;
}

const FOUND_MAX = 50;
const PATIENCE_MS = 1000;
const LAST_FOUR = /^[A-Za-z0-9]{4}$/;

/** Creates the search. An empty text finds the first organizations. */
export function createOrganizationSearch({
  store,
  clock,
}: SearchOptions): (text: string) => Promise<FoundOrganizations> {
  async function select<T>(pages: AsyncIterable<readonly T[]>, isWanted: (one: T) => boolean, endsAt: number) {
    const found: T[] = [];
    for await (const page of pages) {
      found.push(...page.filter(isWanted));
      if (found.length > FOUND_MAX || clock() > endsAt) return { found: found.slice(0, FOUND_MAX), complete: false };
      // Between two pages, requests are served.
      await nextTurn();
    }
    return { found, complete: true };
  }

  async function ownersOf(keys: readonly StoredKey[]): Promise<Organization[]> {
    const ids = [...new Set(keys.map(({ organization }) => organization))];
    const owners = await Promise.all(ids.map((id) => store.organizations.get(id)));
    return owners.filter((owner) => owner !== undefined);
  }

  return async (text) => {
    const wanted = text.trim();
    const exact = wanted === '' ? undefined : await store.organizations.get(wanted);
    if (exact !== undefined) return { organizations: [exact], keys: [], complete: true };
    const key = wanted.startsWith('key_') ? await store.keys.get(wanted) : undefined;
    if (key !== undefined) return { organizations: await ownersOf([key]), keys: [key], complete: true };
    const endsAt = clock() + PATIENCE_MS;
    const lower = wanted.toLowerCase();
    const named = await select(
      store.organizations.scan(),
      ({ id, name }) => name.toLowerCase().includes(lower) || id.toLowerCase().includes(lower),
      endsAt,
    );
    const ending = LAST_FOUR.test(wanted)
      ? await select(store.keys.scan(), ({ lastFour }) => lastFour === wanted, endsAt)
      : { found: [], complete: true };
    const byId = new Map([...named.found, ...(await ownersOf(ending.found))].map((one) => [one.id, one]));
    return { organizations: [...byId.values()], keys: ending.found, complete: named.complete && ending.complete };
  };
}
