// The actions on alerts, through the gateway that runs on this machine.

import type { Actions } from '../../administration/actions.ts';
import type { CausesReport } from '../../alerts/causes-report.ts';
import type { AlertsReport } from '../../alerts/report.ts';
import { complaintOf } from '../admin-client.ts';
import type { MachineContext } from '../context.ts';
import { askRunning } from '../running-gateway.ts';

export function alertsHere(context: MachineContext): Actions['alerts'] {
  return {
    async report() {
      const report = (await askRunning(context, '/alerts')) as unknown as AlertsReport;
      const { causes } = (await askRunning(context, '/causes')) as unknown as CausesReport;
      return { ...report, causes };
    },
    async silence(causes, seconds, reason) {
      const client = context.adminClient();
      const query = { causes, seconds: String(seconds), reason, by: context.actor };
      const answer = await client.ask('POST', `/alerts/silence?${new URLSearchParams(query)}`);
      if (answer === undefined) return context.fail(`No gateway answers at ${client.origin}.`);
      const { status, body } = answer;
      if (status === 400) return context.usage(String(body.error));
      if (status !== 200) return context.fail(complaintOf(client, answer));
      return (body.after as { readonly silent_until: string | null }).silent_until;
    },
  };
}
