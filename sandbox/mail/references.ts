// The rules about addresses, roles and permissions that a new and a changed principal share.
import type { Account } from './accounts.ts';
import { failure, notFound, other } from './answers.ts';
import type { PrincipalType } from './fields.ts';
import { ALL_PERMISSIONS, isBuiltInRole, permissionsOfRole } from './permissions.ts';
import type { MailStore } from './store.ts';

const PRINCIPAL_BYTES_MAX = 100_000;

/** An address must be free, or the principal's own, and its domain must exist; not so that of an OAuth client. */
export function checkAddress(store: MailStore, address: string, owner: number | undefined, type: PrincipalType): void {
  const at = address.lastIndexOf('@');
  if (at < 1) throw other('Invalid email', `The address ${address} has no local part or no domain.`);
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

/** @param details What the failure is called, which differs between create and change. */
export function checkPermission(permission: string, granted: boolean, caller: Account, details: string): void {
  if (!ALL_PERMISSIONS.has(permission)) throw other(details, `There is no permission ${permission}.`);
  if (granted && !caller.permissions.has(permission)) throw other(details, `You cannot grant ${permission}.`);
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
