// Limit use from the gateway that runs on this machine, through its admin listener.

import type { ResetReport, UsageReport } from '../../limits/usage.ts';
import { complaintOf } from '../admin-client.ts';
import type { MachineContext } from '../context.ts';

/** Both methods return undefined for an unknown organization. */
export interface CountersHere {
  show(organization: string): Promise<UsageReport | undefined>;
  reset(organization: string): Promise<ResetReport | undefined>;
}

/** Ends the command with a sentence if no gateway answers. */
export function runningLimits({
  fail,
  adminClient,
  actor: by,
}: Pick<MachineContext, 'fail' | 'adminClient' | 'actor'>): CountersHere {
  const client = adminClient();

  async function ask(method: 'GET' | 'POST', path: string, query: Readonly<Record<string, string>>): Promise<unknown> {
    const answer = await client.ask(method, `${path}?${new URLSearchParams(query)}`);
    if (answer === undefined)
      return fail(
        `No gateway answers at ${client.origin}. Without REDIS_URL, only the memory of the gateway has the counters.`,
      );
    const { status, body } = answer;
    if (status >= 200 && status < 300) return body;
    if (status === 404 && body.code === 'organization_unknown') return undefined;
    return fail(complaintOf(client, answer));
  }

  return {
    show: async (organization) => (await ask('GET', '/limits', { organization })) as UsageReport | undefined,
    reset: async (organization) =>
      (await ask('POST', '/limits/reset', { organization, by })) as ResetReport | undefined,
  };
}
