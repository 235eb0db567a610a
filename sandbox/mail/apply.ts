// Applies changes to a principal, in order and all or nothing.
import type { Account } from './accounts.ts';
import { failure, other } from './answers.ts';
import { isTexts, type MailChange, printed } from './changes.ts';
import type { FieldName, KeptList, Principal, PrincipalType, Relation, TextField } from './fields.ts';
import { externalAddressOf } from './mail-address.ts';
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
    if (field === 'quota') return withQuota(principal, change);
    if (typeof value !== 'string') throw unsupportedValue(change);
    if (field === 'name') return renamed(principal, value.toLowerCase());
    if (field === 'tenant') throw failure('unsupported', { details: 'Enterprise feature' });
    if (!TEXTS.includes(field)) throw unsupportedValue(change);
    // The empty text clears it.
    const { [field as TextField]: _, ...rest } = principal;
    return value === '' ? rest : { ...rest, [field as TextField]: value };
  }

  /** A name is checked for being free, and for nothing else: it can become empty. */
  function renamed(principal: Principal, name: string): Principal {
    const holder = store.find(name);
    if (holder && holder.id !== principal.id) throw failure('fieldAlreadyExists', { field: 'name', value: name });
    return { ...principal, name };
  }

  function changedList(caller: Account, principal: Principal, field: KeptList, change: MailChange): Principal {
    const sent = itemsOf(change).map((item) => normalized(field, item, change));
    for (const item of sent) check(caller, principal, field, item, change);
    if (field === 'secrets') return { ...principal, secrets: secretsAfter(principal.secrets, change.action, sent) };
    const present = principal[field];
    if (change.action === 'set') return { ...principal, [field]: unique(sent) };
    if (change.action === 'addItem') return { ...principal, [field]: unique([...present, ...sent]) };
    return { ...principal, [field]: present.filter((item) => !sent.includes(item)) };
  }

  /** The name of a permission has to exist even in order to be removed. */
  function check(
    caller: Account,
    { id, type }: Principal,
    field: KeptList,
    item: string,
    { action }: MailChange,
  ): void {
    const isRemoval = action === 'removeItem';
    if (field === 'emails' && !isRemoval) checkAddress(store, item, id, type);
    if (field === 'enabledPermissions' || field === 'disabledPermissions')
      checkPermission(item, field, caller, isRemoval);
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

function normalized(field: KeptList, item: string, { action }: MailChange): string {
  if (field === 'emails') return item.toLowerCase();
  if (field !== 'externalMembers') return item;
  const address = externalAddressOf(item);
  if (address !== undefined) return address;
  if (action === 'removeItem') return item;
  throw other('Invalid email address', `${item} is not an e-mail address.`);
}

function withQuota(principal: Principal, change: MailChange): Principal {
  const { value } = change;
  if (!WITH_QUOTA.includes(principal.type)) throw unsupportedValue(change);
  const { quota: _, ...without } = principal;
  if (value === '') return without;
  if (typeof value !== 'number') throw unsupportedValue(change);
  return { ...without, quota: value };
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
