// The actions on organizations, for operators, which list, read, create, change, suspend and resume them.

import type { RandomBytes } from '../auth/base62.ts';
import { newOrganizationId } from '../auth/issue-key.ts';
import type { Conditions, KeyStore, OrganizationPatch } from '../auth/store/key-store.ts';
import { GatewayError } from '../catalogue/errors.ts';
import type { Configuration } from '../configuration.ts';
import { toFields, violationInBody } from '../contract/violations/violations.ts';
import type { Organization } from '../exchange/caller.ts';
import type { Awaitable } from '../shared/awaitable.ts';
import type { Actor } from './actor.ts';
import { type Authority, readAuthority, whileUndisturbed } from './authority.ts';
import { etagOf, requireMatch } from './etag.ts';
import { type PartOfList, partOfPages } from './part.ts';

interface OrganizationDeps {
  readonly store: KeyStore;
  now(): number;
}

interface TierDeps extends OrganizationDeps {
  /** Returns the configuration in force, for its tiers. */
  configuration(): Awaitable<Configuration>;
}

interface Trial {
  /** Checks everything and writes nothing. */
  readonly dryRun?: boolean | undefined;
}

interface OneOrganization extends Trial {
  readonly id: string;
  /** Throws precondition_failed unless the organization has this tag. */
  readonly ifMatch?: string | undefined;
}

/** Returns the entity tag of an organization. It covers all members that actions can change. */
export function organizationTag({ tier, contacts, state }: Organization): string {
  return etagOf({ tier, contacts, state });
}

interface OrganizationListing {
  /** The beginning of the id or of the name, in upper or lower case. */
  readonly find: string | undefined;
  readonly tier: string | undefined;
  readonly state: string | undefined;
  /** Organizations up to this id are left out. */
  readonly after: string | undefined;
  readonly most: number;
}

/** Lists organizations in the order of their ids. */
export function listOrganizations(
  { store }: Pick<OrganizationDeps, 'store'>,
  { find, tier, state, after, most }: OrganizationListing,
): Promise<PartOfList<Organization>> {
  const start = find?.toLowerCase() ?? '';
  const isWanted = (one: Organization) =>
    (tier === undefined || one.tier === tier) &&
    (state === undefined || one.state === state) &&
    (one.id.toLowerCase().startsWith(start) || one.name.toLowerCase().startsWith(start));
  return partOfPages(store.organizations.inOrder(after), isWanted, most);
}

/** Throws resource_missing. */
export async function getOrganization({ store }: Pick<OrganizationDeps, 'store'>, id: string): Promise<Organization> {
  const found = await store.organizations.get(id);
  if (found === undefined) throw new GatewayError('resource_missing');
  return found;
}

/** Throws reference_missing. */
async function requireTier({ configuration }: TierDeps, tier: string): Promise<void> {
  const { config } = await configuration();
  if (!Object.hasOwn(config.limits.tiers, tier))
    throw new GatewayError('reference_missing', { fields: { param: 'tier' } });
}

/** Throws validation_failed for a name that consists of blanks, because the pattern in the contract knows only blanks of ASCII. */
function requireName(name: string): void {
  if (name.trim() !== '') return;
  const blank = violationInBody('/name', { code: 'pattern_mismatch', message: 'Must not be blank.' });
  throw new GatewayError('validation_failed', { fields: toFields([blank]) });
}

type NewOrganization = Pick<Organization, 'name' | 'tier' | 'contacts' | 'operator'> & {
  /** Made at random if it is undefined. */
  readonly id: string | undefined;
};

/** Throws already_exists, reference_missing, validation_failed. */
export function createOrganization(
  deps: TierDeps & { readonly randomBytes: RandomBytes },
  actor: Actor,
  { dryRun, ...wanted }: NewOrganization & Trial,
): Promise<Organization> {
  const { store, randomBytes } = deps;
  return whileUndisturbed(async () => {
    const { author, ...conditions } = await readAuthority(deps, actor);
    const { id = newOrganizationId(randomBytes), name, tier, contacts, operator } = wanted;
    requireName(name);
    await requireTier(deps, tier);
    const organization: Organization = { id, name, tier, state: 'active', contacts, operator };
    const isTaken = dryRun
      ? (await store.organizations.get(id)) !== undefined
      : !(await store.organizations.create(organization, author, conditions));
    if (isTaken) throw new GatewayError('already_exists', { fields: { param: 'id' } });
    return organization;
  });
}

type Write = (authority: Authority, conditions: Conditions) => Awaitable<Organization | undefined>;

/** Throws resource_missing, precondition_failed. */
function change(
  deps: OrganizationDeps,
  actor: Actor,
  { id, ifMatch, dryRun }: OneOrganization,
  next: Partial<Organization>,
  write: Write,
): Promise<Organization> {
  return whileUndisturbed(async () => {
    const authority = await readAuthority(deps, actor);
    const before = await getOrganization(deps, id);
    requireMatch(ifMatch, organizationTag(before));
    if (dryRun) return { ...before, ...next };
    const expected = ifMatch === undefined ? [] : [before];
    const { keys, organizations } = authority;
    const after = await write(authority, { keys, organizations: [...organizations, ...expected] });
    if (after === undefined) throw new GatewayError('resource_missing');
    return after;
  });
}

/** Throws reference_missing for a tier that does not exist. */
export async function changeOrganization(
  deps: TierDeps,
  actor: Actor,
  { patch, ...one }: OneOrganization & { readonly patch: OrganizationPatch },
) {
  if (patch.tier !== undefined) await requireTier(deps, patch.tier);
  return change(deps, actor, one, patch, ({ author }, conditions) =>
    deps.store.organizations.change(one.id, patch, author, conditions),
  );
}

/** Suspends an organization. An organization cannot suspend itself, because none of its keys could undo that. Throws invalid_transition. */
export async function suspendOrganization(deps: OrganizationDeps, actor: Actor, one: OneOrganization) {
  if (actor.organization === one.id) throw new GatewayError('invalid_transition');
  return change(deps, actor, one, { state: 'suspended' }, ({ author }, conditions) =>
    deps.store.organizations.suspend(one.id, author, conditions),
  );
}

export function resumeOrganization(deps: OrganizationDeps, actor: Actor, one: OneOrganization) {
  return change(deps, actor, one, { state: 'active' }, ({ author }, conditions) =>
    deps.store.organizations.resume(one.id, author, conditions),
  );
}
