// Reads from a remote gateway which organizations call deprecated operations. The contract shows no names and contacts of organizations,
// and no successors of operations. Rejects with ServerProblem.

import type { Actions, CallerOfDeprecated } from '../actions.ts';
import type { AdministrationClient } from './client.ts';
import { type AnswerMembers, requireMembers } from './records.ts';
import { PAGE_SIZE } from './remote-lists.ts';

type UsedOperation = CallerOfDeprecated['operations'][number];

export function remoteDeprecations({ server, pages }: AdministrationClient): Actions['deprecations'] {
  function useIn(members: AnswerMembers): readonly [organization: string, use: UsedOperation] {
    requireMembers(server, members, {
      organization_id: 'string',
      operation_id: 'string',
      last_used_at: 'time or null',
      sunset_at: 'time or null',
    });
    const { organization_id, operation_id, requests, last_used_at, sunset_at } = members;
    const use = {
      operation: operation_id as string,
      sunset: (sunset_at as string | null)?.slice(0, 'yyyy-mm-dd'.length) ?? null,
      calls: typeof requests === 'number' ? requests : null,
      last_call_at: last_used_at as string | null,
    };
    return [organization_id as string, use];
  }

  return {
    async uses(sinceMs) {
      const recent: (readonly [organization: string, use: UsedOperation])[] = [];
      for await (const { data } of pages('/deprecated-uses', { limit: PAGE_SIZE }))
        recent.push(...data.map(useIn).filter(([, use]) => lastCallOf(use) >= sinceMs));
      return [...Map.groupBy(recent, ([organization]) => organization)].map(([organization, own]) =>
        callerOf(
          organization,
          own.map(([, use]) => use),
        ),
      );
    },
    // This is never called, because the options of the command do not allow it with a remote gateway.
    notices: () => Promise.reject(new TypeError('The contract does not tell the contacts of organizations.')),
  };
}

/** Returns the time of the last call; infinite if it is unknown, because the call may be recent. */
function lastCallOf({ last_call_at: at }: UsedOperation): number {
  return at === null ? Number.POSITIVE_INFINITY : Date.parse(at);
}

function callerOf(organization: string, operations: readonly UsedOperation[]): CallerOfDeprecated {
  const calls = operations.map((one) => one.calls);
  const times = operations.flatMap(({ last_call_at: at }) => at ?? []).sort();
  return {
    organization,
    name: null,
    contacts: [],
    calls: calls.includes(null) ? null : calls.reduce((sum: number, count) => sum + (count ?? 0), 0),
    last_call_at: times.at(-1) ?? null,
    operations,
  };
}
