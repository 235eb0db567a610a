// Creates a principal. The order of the checks is the real server's, so the first that fails is the same.
import type { Account } from './accounts.ts';
import type { MailAnswer } from './answers.ts';
import { data, failure, forbidden, tenantQuotaExceeded } from './answers.ts';
import { type Content, EMPTY, type PrincipalType, type Relation } from './fields.ts';
import { type Form, readMailForm } from './form.ts';
import { isBuiltInRole, permissionFor } from './permissions.ts';
import { checkAddress, checkPermission, checkRole, checkSize, referenced } from './references.ts';
import { withoutFurtherPasswords } from './secrets.ts';
import type { MailStore } from './store.ts';

export type Create = (caller: Account, body: Buffer | undefined) => MailAnswer;

/** The types allowed for the named principals of a relation; any where it is undefined. */
const REFERENCES: Readonly<Record<Relation, readonly PrincipalType[] | undefined>> = {
  memberOf: ['group'],
  lists: ['list'],
  roles: ['role'],
  members: undefined,
};

/** @param principalsMax How many principals the quota of the tenant allows. */
export function createCreate(store: MailStore, principalsMax: number): Create {
  return function create(caller, body) {
    const form = readMailForm(body);
    checkAllowed(form, caller);
    const { type, name } = form;
    if (name === '') throw failure('fieldMissing', { field: 'name' });
    if (store.count() >= principalsMax) throw tenantQuotaExceeded();
    if (store.find(name)) throw failure('fieldAlreadyExists', { field: 'name', value: name });

    return store.transaction(() => {
      const related = resolve(store, form);
      const content = contentOf(form);
      for (const field of ['enabledPermissions', 'disabledPermissions'] as const)
        for (const permission of form.lists[field] ?? []) checkPermission(permission, field, caller);
      for (const address of content.emails) checkAddress(store, address, undefined, type);
      checkSize(content);
      const { id } = store.insert(type, name, content);
      for (const parent of related.parents) store.join(id, parent);
      for (const member of related.members) store.join(member, id);
      return data(id);
    });
  };
}

function checkAllowed({ type, texts, lists }: Form, caller: Account): void {
  if (!caller.permissions.has(permissionFor(type, 'create'))) throw forbidden();
  if (type === 'tenant' || texts.tenant) throw failure('unsupported', { details: 'Enterprise feature' });
  for (const role of lists.roles ?? []) checkRole(role, caller);
}

interface Related {
  readonly parents: readonly number[];
  readonly members: readonly number[];
}

function resolve(store: MailStore, { lists }: Form): Related {
  const numbers = (relation: Relation, names = lists[relation] ?? []) =>
    names.map((name) => referenced(store, name, REFERENCES[relation]));
  const roles = lists.roles?.filter((role) => !isBuiltInRole(role));
  return {
    parents: [...numbers('memberOf'), ...numbers('lists'), ...numbers('roles', roles)],
    members: numbers('members'),
  };
}

function contentOf({ type, texts, lists, quota }: Form): Content {
  const { memberOf: _groups, lists: _lists, members: _members, roles = [], ...sent } = lists;
  const kept = Object.fromEntries(Object.entries(sent).map(([field, items]) => [field, unique(items)])) as typeof sent;
  const { tenant: _tenant, ...shown } = texts;
  // Its addresses are lost, as on the real server.
  const emails = type === 'oauthClient' ? [] : unique((kept.emails ?? []).map((email) => email.toLowerCase()));
  return {
    ...EMPTY,
    ...shown,
    ...kept,
    disabledPermissions: (kept.disabledPermissions ?? []).filter((one) => !kept.enabledPermissions?.includes(one)),
    emails,
    ...(quota === undefined ? {} : { quota }),
    secrets: withoutFurtherPasswords(kept.secrets ?? []),
    builtInRoles: unique(roles.filter(isBuiltInRole)),
  };
}

const unique = (items: readonly string[]): readonly string[] => [...new Set(items)];
