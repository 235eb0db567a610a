// A principal as the mail server shows it: members that are empty are left out, and secrets are not.
import type { FieldName, Principal } from './fields.ts';
import type { MailStore } from './store.ts';

/** `fields` of undefined are all; `id` and `type` are always there. */
export function shownPrincipal(
  store: MailStore,
  principal: Principal,
  fields?: ReadonlySet<FieldName>,
): Record<string, unknown> {
  const selected = Object.entries(membersOf(store, principal)).filter(
    ([name, value]) => !isEmpty(value) && (fields === undefined || fields.has(name as FieldName)),
  );
  return { id: principal.id, type: principal.type, ...Object.fromEntries(selected) };
}

function membersOf(store: MailStore, principal: Principal): Partial<Record<FieldName, unknown>> {
  const { id, type, builtInRoles, ...kept } = principal;
  const parents = (of: 'group' | 'individual' | 'list' | 'role') => store.parents(id, of).map(({ name }) => name);
  return {
    ...kept,
    memberOf: [...parents('group'), ...parents('individual')],
    lists: parents('list'),
    roles: [...builtInRoles, ...parents('role')],
    // A domain shows its number of addresses.
    members: type === 'domain' ? store.addressesIn(kept.name) : store.children(id),
  };
}

function isEmpty(value: unknown): boolean {
  return value === '' || value === 0 || (Array.isArray(value) && value.length === 0);
}
