// Changes the relations of principals. The allowed types are checked here, on a change, and not when a principal is created.
import type { Account } from './accounts.ts';
import { notFound, other } from './answers.ts';
import type { Action } from './changes.ts';
import type { Principal, PrincipalType, Relation } from './fields.ts';
import { isBuiltInRole } from './permissions.ts';
import { checkRole } from './references.ts';
import type { MailStore } from './store.ts';

/** The principal as it is afterwards. @throws Refused */
export type Relate = (
  caller: Account,
  principal: Principal,
  relation: Relation,
  action: Action,
  names: readonly string[],
) => Principal;

type Kinds = Readonly<Partial<Record<PrincipalType, readonly PrincipalType[]>>>;

/** For each relation: the allowed types of the others, for a principal of this type. */
const ALLOWED: Readonly<Record<Relation, Kinds>> = {
  memberOf: { individual: ['group', 'individual'], group: ['group'] },
  lists: { individual: ['list'], group: ['list'] },
  roles: { individual: ['role'], tenant: ['role'], role: ['role'] },
  members: {
    group: ['individual', 'group'],
    list: ['individual', 'group'],
    role: ['role'],
    resource: ['resource'],
    location: ['location', 'resource', 'individual', 'group'],
  },
};

/** A `set` of `memberOf`, `lists` or `roles` empties all three, and fills the one that it names. */
const PARENT_TYPES: readonly PrincipalType[] = ['group', 'individual', 'list', 'role'];

export function createRelate(store: MailStore): Relate {
  function partner(principal: Principal, relation: Relation, name: string): number {
    const found = store.find(name);
    if (!found) throw notFound(name);
    if (!ALLOWED[relation][principal.type]?.includes(found.type))
      throw other(`Invalid ${relation} value`, `${name} is of type ${found.type}.`);
    return found.id;
  }

  function clear(principal: Principal, relation: Relation): void {
    if (relation === 'members') {
      for (const name of store.children(principal.id)) unlink(principal, relation, name);
      return;
    }
    for (const parent of store.parents(principal.id, PARENT_TYPES)) store.leave(principal.id, parent.id);
  }

  function link(principal: Principal, relation: Relation, name: string): void {
    const id = partner(principal, relation, name);
    if (relation === 'members') store.join(id, principal.id);
    else store.join(principal.id, id);
  }

  /** An unknown name is no error: the relation does not exist either way. */
  function unlink({ id }: Principal, relation: Relation, name: string): void {
    const found = store.find(name);
    if (!found) return;
    if (relation === 'members') store.leave(found.id, id);
    else store.leave(id, found.id);
  }

  return function relate(caller, principal, relation, action, names) {
    if (!ALLOWED[relation][principal.type])
      throw other(`Invalid ${relation} value`, `A principal of type ${principal.type} has no ${relation}.`);
    const builtIn = relation === 'roles' ? names.filter(isBuiltInRole) : [];
    const others = names.filter((name) => !builtIn.includes(name));
    if (action === 'removeItem') {
      for (const name of others) unlink(principal, relation, name);
      return { ...principal, builtInRoles: principal.builtInRoles.filter((role) => !builtIn.includes(role)) };
    }
    for (const role of builtIn) checkRole(role, caller);
    if (action === 'set') clear(principal, relation);
    for (const name of others) link(principal, relation, name);
    const present = action === 'set' && relation !== 'members' ? [] : principal.builtInRoles;
    return { ...principal, builtInRoles: [...new Set([...present, ...builtIn])] };
  };
}
