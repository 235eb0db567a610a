// The actions on organizations, on the store of this machine.

import type { Actions } from '../../administration/actions.ts';
import {
  changeOrganization,
  createOrganization,
  listOrganizations,
  resumeOrganization,
  suspendOrganization,
} from '../../administration/organizations.ts';
import type { MachineContext } from '../context.ts';
import { requireTier } from './checks.ts';
import { actionDepsOf, actorOf, noOrganization, orFail, PART_SIZE, partsOf } from './deps.ts';
import { resultOf } from './in-force.ts';

export function organizationsHere(context: MachineContext): Actions['organizations'] {
  const actor = actorOf(context);
  return {
    async create(wanted) {
      await requireTier(context, wanted.tier);
      const creating = createOrganization(await actionDepsOf(context, 'begin'), actor, wanted);
      return orFail(context, creating, {
        already_exists: () => `The organization ${wanted.id} exists already.`,
      });
    },

    async *list(after) {
      const deps = await actionDepsOf(context);
      const all = { find: undefined, tier: undefined, state: undefined, most: PART_SIZE };
      yield* partsOf((behind) => listOrganizations(deps, { ...all, after: behind }), after);
    },

    async change(id, change, waitMs) {
      if (typeof change !== 'string') await requireTier(context, change.tier);
      const deps = await actionDepsOf(context);
      const changing =
        typeof change === 'string'
          ? { suspend: suspendOrganization, resume: resumeOrganization }[change](deps, actor, { id })
          : changeOrganization(deps, actor, { id, patch: change });
      const after = await orFail(context, changing, { resource_missing: () => noOrganization(deps.store, id) });
      return resultOf(context, deps.store, after, waitMs);
    },
  };
}
