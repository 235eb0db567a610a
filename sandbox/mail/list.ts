// The list of principals: types, search by whole words, pages, and the requested fields.
import type { Account } from './accounts.ts';
import { data, failure, forbidden, type MailAnswer, notFound } from './answers.ts';
import { type FieldName, isField, isType, type Principal, type PrincipalType, TYPES } from './fields.ts';
import { permissionFor } from './permissions.ts';
import { lastOf } from './query.ts';
import { shownPrincipal } from './show.ts';
import type { MailStore } from './store.ts';

/** @throws Refused */
export type PrincipalList = (caller: Account, query: URLSearchParams) => Promise<MailAnswer>;

/** @param pause Waited for between finding the names and loading what they name. */
export function createPrincipalList(store: MailStore, pause: () => Promise<void>): PrincipalList {
  return async function list(caller, query) {
    const types = typesOf(query, caller);
    const found = matching(store, types, lastOf(query, 'filter') ?? '');
    if (lastOf(query, 'count') !== undefined) return data({ items: [], total: found.length });

    await pause();
    const fields = fieldsOf(lastOf(query, 'fields'));
    const items = pageOf(found, query).map(({ id, name, type }) => {
      if (fields?.size === 1 && fields.has('name')) return { id, type, name };
      const principal = store.find(name);
      // Gone in the meantime: the whole call fails with its name.
      if (!principal) throw notFound(name);
      return shownPrincipal(store, principal, fields);
    });
    return data({ items, total: found.length });
  };
}

/** The numbers and names of all that match, in the order of their names. */
export function matching(store: MailStore, types: readonly PrincipalType[], filter: string) {
  const named = store.namesOf(types);
  if (filter === '') return named;
  const wordsIn = new Map(
    named.map(({ name }) => {
      const principal = store.find(name);
      return [name, new Set(principal && searched(principal))] as const;
    }),
  );
  let found: typeof named = [];
  for (const word of wordsOf(filter)) {
    // The first words are ignored as long as they match nothing.
    const among = found.length === 0 ? named : found;
    const matched = among.filter(({ name }) => wordsIn.get(name)?.has(word) === true);
    if (found.length > 0 && matched.length === 0) return [];
    found = matched;
  }
  // Without a word, such as for punctuation alone, nothing is found.
  return found;
}

const searched = ({ name, description, emails }: Principal) => wordsOf([name, description, ...emails].join(' '));

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

function typesOf(query: URLSearchParams, caller: Account): readonly PrincipalType[] {
  const sent = lastOf(query, 'types') ?? lastOf(query, 'type') ?? '';
  const asked = sent.split(',').filter(isType);
  // Without a filter every permission is needed, the one for tenants too.
  for (const type of asked.length > 0 ? asked : TYPES)
    if (!caller.permissions.has(permissionFor(type, 'list'))) throw forbidden();
  if (asked.includes('tenant')) throw failure('unsupported', { details: 'Enterprise feature' });
  return asked.length > 0 ? asked : TYPES;
}

/** Undefined is all of them, which a list of unknown names also amounts to. */
function fieldsOf(sent: string | undefined): ReadonlySet<FieldName> | undefined {
  const known = sent?.split(',').filter(isField) ?? [];
  return known.length === 0 ? undefined : new Set(known);
}

function pageOf<Item>(found: readonly Item[], query: URLSearchParams): readonly Item[] {
  const [page, limit] = [numberOf(query, 'page'), numberOf(query, 'limit')];
  if (limit === 0) return found;
  const start = Math.max(page - 1, 0) * limit;
  return found.slice(start, start + limit);
}

/** An unreadable number is 0. */
function numberOf(query: URLSearchParams, name: string): number {
  const sent = lastOf(query, name) ?? '';
  return /^\d{1,15}$/.test(sent) ? Number(sent) : 0;
}
