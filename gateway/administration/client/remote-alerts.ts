// The actions on alerts, by the contract of a remote gateway. They reject with ServerProblem.

import type { AlertNote } from '../../alerts/message.ts';
import type { Actions } from '../actions.ts';
import type { Attention } from '../attention.ts';
import type { AdministrationClient } from './client.ts';
import { requireMembers, rowsIn } from './records.ts';

const CAUSE_MEMBERS = {
  id: 'string',
  severity: 'string',
  cause: 'string',
  consequence: 'string',
  since: 'time',
  instances: 'list',
  runbook: 'text or null',
  link: 'string',
} as const;
const ALERT_MEMBERS = {
  id: 'string',
  state: 'string',
  severity: 'string',
  cause: 'string',
  since: 'time',
  quiet_since: 'time or null',
  resolved_at: 'time or null',
  silent: 'boolean',
  told: 'list',
} as const;
const RECEIVER_MEMBERS = {
  name: 'string',
  kind: 'string',
  state: 'string',
  reason: 'text or null',
  failing_since: 'time or null',
  last_message_at: 'time or null',
} as const;
const SILENCE_MEMBERS = { causes: 'string', until: 'time', by: 'string', reason: 'string' } as const;

export function remoteAlerts({ server, ask }: AdministrationClient): Actions['alerts'] {
  return {
    async report() {
      const members = await ask('GET', '/alerts');
      requireMembers(server, members, { configured: 'boolean' });
      const receivers = rowsIn<Attention['receivers'][string] & { readonly name: string }>(
        server,
        members,
        'receivers',
        RECEIVER_MEMBERS,
      );
      return {
        configured: members.configured as boolean,
        receivers: Object.fromEntries(receivers.map(({ name, ...receiver }) => [name, receiver])),
        alerts: rowsIn<Attention['alerts'][number]>(server, members, 'alerts', ALERT_MEMBERS),
        silences: rowsIn<Attention['silences'][number]>(server, members, 'silences', SILENCE_MEMBERS),
        causes: rowsIn<AlertNote>(server, members, 'causes', CAUSE_MEMBERS).map((cause) => ({
          ...cause,
          state: 'firing',
          until: null,
        })),
      };
    },

    async silence(causes, seconds, reason) {
      const body = { causes, seconds, ...(reason !== '' && { reason }) };
      const members = await ask('POST', '/alerts/silence', { body });
      requireMembers(server, members, { silent_until: 'time or null' });
      return members.silent_until as string | null;
    },
  };
}
