// The operations about the usage of an organization.

import type { PeriodUnit } from '../../usage/periods.ts';
import { positionIn, positionText, type UsageGroup } from '../../usage/report.ts';
import type { AdministrationDeps } from '../deps.ts';
import { listUsage } from '../usage.ts';
import type { Answer, Call, Handlers } from './call.ts';

export const USAGE: Handlers = {
  getUsage: (deps, call) => usageOf(deps, call, call.organization.id),
  getOrganizationUsage: (deps, call) => usageOf(deps, call, call.path('organization_id')),
};

async function usageOf(deps: AdministrationDeps, call: Call, organization: string): Promise<Answer> {
  const { query, queryAll, limit, cursors } = call;
  const position = cursors.position();
  const { data, complete_until, next } = await listUsage(deps, {
    organization,
    // The contract defines the values and the default.
    by: query('by') as PeriodUnit,
    fromMs: timeIn(query('from')),
    toMs: timeIn(query('to')),
    groups: queryAll('group') as UsageGroup[],
    operation: query('operation_id'),
    key: query('key_id'),
    limit,
    position: position === undefined ? undefined : positionIn(position),
  });
  const cursor = next === undefined ? null : cursors.cursorAfter(positionText(next));
  return { body: { data, complete_until, cursor, has_more: cursor !== null } };
}

/** Parses a time. A leap second is read as the second before it. */
function timeIn(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text.replace(/:60(?=[.Z+-])/i, ':59'));
}
