// Explains a request from the memory of the gateway on this machine, and of the gateways that share its Redis.

import type { Actions } from '../../administration/actions.ts';
import type { CausesReport } from '../../alerts/report.ts';
import type { StatusForCauses } from '../../console/causes/cause.ts';
import type { LogLine } from '../../explain/log-line.ts';
import { wasSlow } from '../../explain/present-cause.ts';
import { exchangeReport } from '../../explain/report.ts';
import { type AdminClient, absenceText } from '../admin-client.ts';
import type { MachineContext } from '../context.ts';
import { findInGateway } from '../explain/find.ts';

export function requestsHere({ adminClient, fail }: MachineContext): Actions['requests'] {
  return {
    async explain(id) {
      const client = adminClient();
      const found = await findInGateway(client, id);
      if (found === undefined) return fail(`${absenceText(client)} Name its log with --log.`);
      if (found.length > 0) {
        const isExplained = (line: LogLine) => line.code !== undefined || wasSlow(line);
        const causes = found.some(isExplained) ? await causesOf(client) : [];
        return found.map((line) => exchangeReport(line, causes));
      }
      const silent = await silentProcesses(client);
      const verb = silent.length === 1 ? 'does' : 'do';
      const unasked = silent.length === 0 ? '' : `${silent.join(' and ')} ${verb} not answer and may know it; or `;
      const why = `${unasked}it is too old, or of another gateway, or the id is misspelt`;
      return fail(`The gateway at ${client.origin} remembers no ${id}: ${why}. Name its log with --log.`);
    },
  };
}

/** Resolves with the names of the instances, and of the workers of this instance, that do not answer. */
async function silentProcesses({ ask }: AdminClient): Promise<string[]> {
  const answer = await ask('GET', '/console/feed?range=15m&instance=all');
  if (answer?.status !== 200) return [];
  const { without = [], status } = answer.body as unknown as SilentFeed;
  const workers = status?.workers?.filter(({ state }) => state === 'silent') ?? [];
  return [...without, ...workers.map(({ worker }) => `worker ${worker}`)];
}

/** The members of the feed that are read here. */
interface SilentFeed {
  readonly without?: readonly string[];
  readonly status?: StatusForCauses | null;
}

/** Resolves with the current causes; empty if the gateway cannot report them. */
async function causesOf({ ask }: AdminClient): Promise<CausesReport['causes']> {
  const answer = await ask('GET', '/causes');
  return answer?.status === 200 ? (answer.body as unknown as CausesReport).causes : [];
}
