// The actions on alerts and on upstreams, through the gateway that runs on this machine.

import type { Actions } from '../../administration/actions.ts';
import type { AlertsReport, CausesReport } from '../../alerts/report.ts';
import type { StatusForCauses } from '../../console/causes/cause.ts';
import { absenceText, complaintOf } from '../admin-client.ts';
import type { CommandContext, MachineContext } from '../context.ts';
import { unknownName } from '../read.ts';
import { knownHere } from './deps.ts';

export function upstreamsHere(context: MachineContext): Actions['upstreams'] {
  const { adminClient, actor: by, fail } = context;
  return {
    async states() {
      const { lifecycle = null, upstreams = {} } = (await askRunning(context, '/status')) as StatusForCauses;
      return { lifecycle, upstreams };
    },
    async retry(name) {
      const client = adminClient();
      const answer = await client.ask('POST', `/upstreams/retry?${new URLSearchParams({ upstream: name, by })}`);
      if (answer === undefined) return fail(absenceText(client));
      const { status, body } = answer;
      if (body.code === 'upstream_unknown') {
        const { config } = await knownHere(context);
        return context.usage(unknownName('upstream', name, Object.keys(config.upstreams)));
      }
      if (status !== 200) return fail(complaintOf(client, answer));
      return Array.isArray(body.retried) && body.retried.length > 0;
    },
  };
}

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
      if (answer === undefined) return context.fail(absenceText(client));
      const { status, body } = answer;
      if (status === 400) return context.usage(String(body.error));
      if (status !== 200) return context.fail(complaintOf(client, answer));
      return (body.after as { readonly silent_until: string | null }).silent_until;
    },
  };
}

/** Ends the command with a sentence unless the gateway answers with 200. */
async function askRunning({ adminClient, fail }: Pick<CommandContext, 'adminClient' | 'fail'>, path: string) {
  const client = adminClient();
  const answer = await client.ask('GET', path);
  if (answer === undefined) return fail(absenceText(client));
  return answer.status === 200 ? answer.body : fail(complaintOf(client, answer));
}
