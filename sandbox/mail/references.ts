// The rules about addresses, roles and permissions that a new and a changed principal share.
import type { Account } from './accounts.ts';
import { failure, notFound, other } from './answers.ts';
import type { PrincipalType } from './fields.ts';
import { ALL_PERMISSIONS, isBuiltInRole, permissionsOfRole } from './permissions.ts';
import type { MailStore } from './store.ts';

type PermissionField = 'enabledPermissions' | 'disabledPermissions';

const PRINCIPAL_BYTES_MAX = 100_000;

/** An address must be free, or the principal's own, and its domain must exist; not so that of an OAuth client. */
export function checkAddress(store: MailStore, address: string, owner: number | undefined, type: PrincipalType): void {
  // Without a local part it stands for every address of its domain that is not in use.
  const at = address.lastIndexOf('@');
  if (at < 0) throw other('Invalid email', `The address ${address} has no domain.`);
  const present = store.ownerOf(address);
  if (present !== undefined && present !== owner)
    throw failure('fieldAlreadyExists', { field: 'emails', value: address });
  const domain = address.slice(at + 1);
  if (type !== 'oauthClient' && store.find(domain)?.type !== 'domain') throw notFound(domain);
}

/** A caller can give away only what it has. */
export function checkRole(role: string, { permissions }: Account): void {
  if (!isBuiltInRole(role)) return;
  for (const permission of permissionsOfRole(role)) {
    if (!permissions.has(permission)) throw other('Invalid role', `You cannot grant the role ${role}.`);
  }
}

/** An unknown name is refused in every list, even if it is to be removed; what the caller lacks it cannot enable. */
export function checkPermission(permission: string, field: PermissionField, caller: Account, isRemoval = false): void {
  if (!ALL_PERMISSIONS.has(permission)) throw other(`Invalid ${field} value`, `Permission ${permission} is invalid.`);
  if (field === 'enabledPermissions' && !isRemoval && !caller.permissions.has(permission))
    throw other('Invalid permission', `Your account cannot grant ${permission}.`);
}

/** The number of the principal of that name, which must have one of the types. */
export function referenced(store: MailStore, name: string, types: readonly PrincipalType[] | undefined): number {
  const found = store.find(name);
  if (!found || (types && !types.includes(found.type))) throw notFound(name);
  return found.id;
}

/** Of everything a principal holds, names, secrets and lists taken together. */
export function checkSize(principal: object): void {
  const bytes = Buffer.byteLength(JSON.stringify(principal));
  if (bytes > PRINCIPAL_BYTES_MAX) throw other('Invalid parameter', `The principal takes ${bytes} bytes.`);
}
