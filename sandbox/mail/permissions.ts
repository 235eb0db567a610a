// Access: the names of the permissions, and the sum of an account's roles.
import type { Principal, PrincipalType } from './fields.ts';
import { SERVER_PERMISSIONS, USER_PERMISSIONS } from './permission-names.ts';
import type { MailStore } from './store.ts';

export type Permissions = ReadonlySet<string>;
export type Act = 'list' | 'get' | 'create' | 'update' | 'delete';

const ACTS: readonly Act[] = ['list', 'get', 'create', 'update', 'delete'];

/** The first part of the permissions for a type of principal. */
const SUBJECTS: Readonly<Record<PrincipalType, string>> = {
  individual: 'individual',
  group: 'group',
  list: 'mailing-list',
  domain: 'domain',
  tenant: 'tenant',
  role: 'role',
  apiKey: 'api-key',
  oauthClient: 'oauth-client',
  resource: 'principal',
  location: 'principal',
};

const PRINCIPALS = [...new Set(Object.values(SUBJECTS))].flatMap((subject) => ACTS.map((act) => `${subject}-${act}`));
const TENANT_ADMIN = [...USER_PERMISSIONS, ...PRINCIPALS.filter((name) => !name.startsWith('tenant-'))];

/** Permissions of the roles that every server has. */
const BUILT_IN_ROLES: Readonly<Record<string, Permissions>> = {
  admin: new Set([...USER_PERMISSIONS, ...PRINCIPALS, ...SERVER_PERMISSIONS]),
  'tenant-admin': new Set(TENANT_ADMIN),
  user: new Set(USER_PERMISSIONS),
};

export const isBuiltInRole = (name: string): boolean => Object.hasOwn(BUILT_IN_ROLES, name);

export const ALL_PERMISSIONS = permissionsOfRole('admin');

/** Nothing for a name that is no built-in role. */
export function permissionsOfRole(name: string): Permissions {
  return (isBuiltInRole(name) && BUILT_IN_ROLES[name]) || new Set();
}

export const permissionFor = (type: PrincipalType, act: Act): string => `${SUBJECTS[type]}-${act}`;

/** All that its roles grant and it enables, less the permissions that it or a role on the way disables. */
export function permissionsOf(
  principal: Principal,
  store: MailStore,
  seen: ReadonlySet<number> = new Set(),
): Permissions {
  const granted = new Set(principal.builtInRoles.flatMap((role) => [...permissionsOfRole(role)]));
  const visited = new Set(seen).add(principal.id);
  for (const role of store.parents(principal.id, ['role'])) {
    if (visited.has(role.id)) continue;
    for (const permission of permissionsOf(role, store, visited)) granted.add(permission);
  }
  for (const permission of principal.enabledPermissions) granted.add(permission);
  for (const permission of principal.disabledPermissions) granted.delete(permission);
  return granted;
}
