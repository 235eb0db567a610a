// The actions on keys, on the store of this machine. Its user may act on the keys of every organization.

import { type Actions, scopesAfter } from '../../administration/actions.ts';
import { changeKey, createKey, revokeKey, rotateKey } from '../../administration/keys.ts';
import { keyTag, listKeys } from '../../administration/read-keys.ts';
import { keyState } from '../../auth/key-json.ts';
import type { KeyStore } from '../../auth/store/key-store.ts';
import type { MachineContext } from '../context.ts';
import { shortTime } from '../print.ts';
import { requireScopes } from './checks.ts';
import { actionDepsOf, actorOf, noOrganization, orFail, PART_SIZE, partsOf } from './deps.ts';
import { resultOf } from './in-force.ts';

export function keysHere(context: MachineContext): Actions['keys'] {
  const { fail } = context;
  const actor = actorOf(context);

  async function requireBehind({ keys }: KeyStore, id: string, organization: string | undefined): Promise<void> {
    const key = await keys.get(id);
    if (key === undefined) return fail(`There is no key ${id} to go on behind.`);
    if (organization !== undefined && key.organization !== organization) fail(`${id} is no key of ${organization}.`);
  }

  return {
    async *list({ organization, after }) {
      const deps = await actionDepsOf(context);
      if (organization !== undefined && (await deps.store.organizations.get(organization)) === undefined)
        fail(await noOrganization(deps.store, organization));
      if (after !== undefined) await requireBehind(deps.store, after, organization);
      yield* partsOf(
        (behind) => listKeys(deps, { organization, state: undefined, after: behind, most: PART_SIZE }),
        after,
      );
    },

    async create({ organization: owner = '', ...request }) {
      const deps = await actionDepsOf(context);
      const organization = await deps.store.organizations.get(owner);
      if (organization === undefined) return fail(await noOrganization(deps.store, owner));
      await requireScopes(context, request.scopes, organization);
      const creating = createKey(deps, actor, { ...request, organization: owner });
      const { key = '', record } = await orFail(context, creating, { too_many_keys: () => tooMany(owner) });
      return { key, record };
    },

    async changeScopes(one, change, waitMs) {
      const deps = await actionDepsOf(context);
      const before = await deps.store.keys.get(one.id);
      const organization = before && (await deps.store.organizations.get(before.organization));
      if (before === undefined || organization === undefined) return fail(`There is no key ${one.id}.`);
      // A scope that no contract contains any more may stay until it is removed.
      await requireScopes(context, change.add, organization);
      const scopes = scopesAfter(before.scopes, change);
      if (scopes.length === 0) return fail(`The key ${one.id} would have no scope: revoke it instead.`);
      const changing = changeKey(deps, actor, { ...one, patch: { scopes }, ifMatch: keyTag(before), dryRun: false });
      const record = await orFail(context, changing, {
        invalid_transition: () => `The key ${one.id} works no more, and cannot be changed.`,
        precondition_failed: () => `The key ${one.id} has been changed meanwhile: run the command again.`,
      });
      return resultOf(context, deps.store, record, waitMs);
    },

    async rotate(one, how, waitMs) {
      const deps = await actionDepsOf(context);
      const rotating = rotateKey(deps, actor, { ...one, ...how });
      const { key = '', ...records } = await orFail(context, rotating, {
        resource_missing: () => `There is no key ${one.id}.`,
        too_many_keys: () => tooMany('Its organization'),
        invalid_transition: () => whyNotRotated(deps.store, one.id, context.now()),
      });
      return resultOf(context, deps.store, { key, ...records }, waitMs);
    },

    async revoke(one, how, waitMs) {
      const deps = await actionDepsOf(context);
      // The user of the machine can create another key.
      const revoking = revokeKey(deps, actor, { ...one, ...how, allowLast: true });
      const record = await orFail(context, revoking, { resource_missing: () => `There is no key ${one.id}.` });
      return resultOf(context, deps.store, record, waitMs);
    },
  };
}

function tooMany(organization: string): string {
  return `${organization} has as many keys as it may have (keys.perOrganizationMax in gateway.yaml): revoke some first.`;
}

/** Returns why a rotation failed. Reads the key again, because another command may have changed it. */
async function whyNotRotated({ keys }: KeyStore, id: string, nowMs: number): Promise<string> {
  const key = await keys.get(id);
  if (key === undefined) return `There is no key ${id}.`;
  const state = keyState(key, nowMs);
  if (state === 'revoked')
    return `The key ${id} is revoked since ${shortTime(key.revokedAtMs)}: create a new one instead.`;
  if (key.replacedBy !== undefined)
    return `The key ${id} was rotated already: its successor is ${key.replacedBy}, which can be rotated in turn.`;
  return `The key ${id} expired on ${shortTime(key.expiresAtMs)}: create a new one instead.`;
}
