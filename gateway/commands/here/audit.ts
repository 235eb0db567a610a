// The audit log, in the store of this machine.

import type { Actions } from '../../administration/actions.ts';
import { listAudit } from '../../administration/audit.ts';
import type { MachineContext } from '../context.ts';
import { actionDepsOf } from './deps.ts';

export function auditHere(context: MachineContext): Actions['audit'] {
  return {
    async list({ organization, sinceMs: fromMs, before, limit: most }) {
      return listAudit(await actionDepsOf(context))({ organization, fromMs, before, most });
    },
  };
}
