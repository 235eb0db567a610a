// Applies changes to a principal, in order and all or nothing.
import type { Account } from './accounts.ts';
import { failure, other } from './answers.ts';
import { isTexts, type MailChange, printed } from './changes.ts';
import type { FieldName, KeptList, Principal, PrincipalType, Relation, TextField } from './fields.ts';
import { checkAddress, checkPermission, checkSize } from './references.ts';
import { createRelate } from './relate.ts';
import { kindOf, withoutFurtherPasswords } from './secrets.ts';
import type { MailStore } from './store.ts';

/** @throws Refused */
export type Apply = (caller: Account, principal: Principal, changes: readonly MailChange[]) => void;

const TEXTS: readonly FieldName[] = ['description', 'picture', 'locale'];
const RELATIONS: readonly FieldName[] = ['memberOf', 'lists', 'roles', 'members'];
const KEPT: readonly FieldName[] = [
  'secrets',
  'emails',
  'enabledPermissions',
  'disabledPermissions',
  'urls',
  'externalMembers',
];
const WITH_QUOTA: readonly PrincipalType[] = ['individual', 'group', 'tenant'];

export function createApply(store: MailStore): Apply {
  const relate = createRelate(store);

  function changed(caller: Account, principal: Principal, change: MailChange): Principal {
    const { action, field, value } = change;
    if (RELATIONS.includes(field)) return relate(caller, principal, field as Relation, action, itemsOf(change));
    if (KEPT.includes(field)) return changedList(caller, principal, field as KeptList, change);
    if (action !== 'set') throw unsupportedValue(change);
    if (field === 'quota') return { ...principal, quota: quotaOf(principal, change) };
    if (typeof value !== 'string') throw unsupportedValue(change);
    if (field === 'name') return renamed(principal, value.toLowerCase());
    if (field === 'tenant') throw failure('unsupported', { details: 'Enterprise feature' });
    if (!TEXTS.includes(field)) throw unsupportedValue(change);
    return { ...principal, [field as TextField]: value };
  }

  /** A name is checked for being free, and for nothing else: it can become empty. */
  function renamed(principal: Principal, name: string): Principal {
    const holder = store.find(name);
    if (holder && holder.id !== principal.id) throw failure('fieldAlreadyExists', { field: 'name', value: name });
    return { ...principal, name };
  }

  function changedList(caller: Account, principal: Principal, field: KeptList, change: MailChange): Principal {
    const sent = field === 'emails' ? itemsOf(change).map((email) => email.toLowerCase()) : itemsOf(change);
    if (change.action !== 'removeItem') for (const item of sent) check(caller, principal, field, item);
    if (field === 'secrets') return { ...principal, secrets: secretsAfter(principal.secrets, change.action, sent) };
    const present = principal[field];
    if (change.action === 'set') return { ...principal, [field]: unique(sent) };
    if (change.action === 'addItem') return { ...principal, [field]: unique([...present, ...sent]) };
    return { ...principal, [field]: present.filter((item) => !sent.includes(item)) };
  }

  function check(caller: Account, { id, type }: Principal, field: KeptList, item: string): void {
    if (field === 'emails') checkAddress(store, item, id, type);
    if (field === 'externalMembers' && !/^[^@\s]+@[^@\s]+$/.test(item))
      throw other('Invalid email address', `${item} is not an e-mail address.`);
    if (field === 'enabledPermissions') checkPermission(item, true, caller, 'Invalid enabledPermissions value');
    if (field === 'disabledPermissions') checkPermission(item, false, caller, 'Invalid disabledPermissions value');
  }

  return function apply(caller, principal, changes) {
    store.transaction(() => {
      let present = principal;
      for (const change of changes) {
        present = changed(caller, present, change);
        // Each change sees the writes of those before it.
        store.replace(present);
      }
      checkSize(present);
    });
  };
}

/** The values of a change of a list: `set` takes several texts, except that secrets may be one; the others take one. */
function itemsOf(change: MailChange): readonly string[] {
  const { action, field, value } = change;
  if (typeof value === 'string' && (action !== 'set' || field === 'secrets')) return [value];
  if (action === 'set' && isTexts(value)) return value;
  throw unsupportedValue(change);
}

function quotaOf({ type }: Principal, change: MailChange): number {
  const { value } = change;
  if (!WITH_QUOTA.includes(type)) throw unsupportedValue(change);
  if (value === '') return 0;
  if (typeof value !== 'number') throw unsupportedValue(change);
  return value;
}

/** Adding a password replaces the one there is; setting replaces everything, the second factor included. */
function secretsAfter(
  present: readonly string[],
  action: MailChange['action'],
  sent: readonly string[],
): readonly string[] {
  if (action === 'set') return withoutFurtherPasswords(sent);
  const [secret = ''] = sent;
  if (action === 'removeItem') return present.filter((one) => !isRemovedBy(one, secret));
  if (present.includes(secret)) return present;
  const kept = kindOf(secret) === 'password' ? present.filter((one) => kindOf(one) !== 'password') : present;
  return [...kept, secret];
}

/** The exact text, or the beginning of an app password or of the second factor. */
function isRemovedBy(stored: string, secret: string): boolean {
  return stored === secret || (kindOf(stored) !== 'password' && stored.startsWith(secret));
}

/** Repeats the value that was sent, be it a password. */
function unsupportedValue({ action, field, value }: MailChange) {
  return other('Invalid parameter', `Cannot ${action} ${field}: unsupported value ${printed(value)}`);
}

const unique = (items: readonly string[]): readonly string[] => [...new Set(items)];
