// A principal as the mail server shows it: lists that are empty are left out, and secrets are not. Related principals
// come in the order of their numbers.
import type { FieldName, Principal, PrincipalType } from './fields.ts';
import type { MailStore } from './store.ts';

/** By their numbers. */
const BUILT_IN_ORDER = ['user', 'tenant-admin', 'admin'];

/** `fields` of undefined are all; `id` and `type` are always there. */
export function shownPrincipal(
  store: MailStore,
  principal: Principal,
  fields?: ReadonlySet<FieldName>,
): Record<string, unknown> {
  const selected = Object.entries(fieldsOf(store, principal)).filter(
    ([name, value]) => !isEmpty(value) && (fields === undefined || fields.has(name as FieldName)),
  );
  return { id: principal.id, type: principal.type, ...Object.fromEntries(selected) };
}

function fieldsOf(store: MailStore, principal: Principal): Partial<Record<FieldName, unknown>> {
  const { id, type, builtInRoles, ...kept } = principal;
  const namesOf = (...types: readonly PrincipalType[]) => store.parents(id, types).map(({ name }) => name);
  return {
    ...kept,
    // An individual that is its own group shows itself among its members alone.
    memberOf: namesOf('group', 'individual', 'location', 'resource').filter((name) => name !== kept.name),
    lists: namesOf('list'),
    // The numbers of the built-in roles are the highest.
    roles: [...namesOf('role'), ...BUILT_IN_ORDER.filter((role) => builtInRoles.includes(role))],
    members: membersOf(store, principal),
  };
}

/** A domain shows its number of addresses, 0 too; a location shows none of its members. */
function membersOf(store: MailStore, { id, type, name }: Principal): number | readonly string[] {
  if (type === 'domain') return store.addressesIn(name);
  return type === 'location' ? [] : store.children(id);
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
