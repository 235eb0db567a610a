// The audit log, in the store of this machine.

import type { Actions } from '../../administration/actions.ts';
import { listAudit } from '../../administration/audit.ts';
import type { MachineContext } from '../context.ts';
import { actionDepsOf, noOrganization } from './deps.ts';

export function auditHere(context: MachineContext): Actions['audit'] {
  return {
    async list({ organization, sinceMs: fromMs, before, limit: most }) {
      const deps = await actionDepsOf(context);
      const changes = await listAudit(deps, { organization, fromMs, before, most });
      const isKnown = changes.length > 0 || organization === undefined;
      if (!isKnown && (await deps.store.organizations.get(organization)) === undefined)
        context.fail(await noOrganization(deps.store, organization));
      return changes;
    },
  };
}
