// Finds the organizations that have called an operation lately, for the author of a change that breaks it. Reads the usage store on this
// machine or in Redis.

import { DAY_MS } from '../../shared/durations.ts';
import { firstNames } from '../../shared/text.ts';
import type { UsagePosition } from '../../usage/report.ts';
import type { MachineContext } from '../context.ts';
import { countText } from '../print.ts';

interface OperationCallers {
  readonly requests: number;
  /** Ids of organizations, beginning with the organization with the most requests. */
  readonly organizations: readonly string[];
}

/** The callers by operation. An operation without requests is absent. */
export type Callers = ReadonlyMap<string, OperationCallers>;

const DAYS = 30;
const PAGE = 1000;
/**
 * Maximum number of organizations that are looked up. Each costs one or two look-ups, and this number suffices to see whom a change would
 * hurt.
 */
const ORGANIZATIONS_MAX = 2000;
const NAMED_MAX = 3;

/** Returns the callers of each operation in the last 30 days; undefined if there is no usage store here, such as in CI. */
export async function recentCallers(context: MachineContext): Promise<Callers | undefined> {
  try {
    return await readCallers(context);
  } catch {
    return undefined;
  }
}

async function readCallers(context: MachineContext): Promise<Callers> {
  const { store } = await context.keyStore();
  const [{ usagePage }, { openUsageStore }] = await Promise.all([
    import('../../usage/report.ts'),
    import('../../usage/usage.ts'),
  ]);
  const { now } = context;
  const keepDays = DAYS + 1;
  const counts = await openUsageStore({ ...context.settings(), keepDays: () => keepDays, now });
  const found = new Map<string, Map<string, number>>();
  try {
    for (const { id: organization } of await store.organizations.list({ limit: ORGANIZATIONS_MAX })) {
      const [toMs, fromMs] = [now(), now() - DAYS * DAY_MS];
      const question = { organization, unit: 'day', fromMs, toMs, groups: ['operation'], limit: PAGE } as const;
      let position: UsagePosition | undefined;
      do {
        const { sums, next } = await usagePage({ ...question, position }, { store: counts, keepDays, nowMs: toMs });
        for (const { operation, requests } of sums) if (operation) add(found, operation, organization, requests);
        position = next;
      } while (position !== undefined);
    }
  } finally {
    await counts.close();
  }
  return new Map([...found].map(([operation, byOrganization]) => [operation, toCallers(byOrganization)]));
}

function add(found: Map<string, Map<string, number>>, operation: string, organization: string, requests: number): void {
  const byOrganization = found.get(operation) ?? new Map<string, number>();
  byOrganization.set(organization, (byOrganization.get(organization) ?? 0) + requests);
  found.set(operation, byOrganization);
}

function toCallers(byOrganization: ReadonlyMap<string, number>): OperationCallers {
  const all = [...byOrganization].sort(([, one], [, other]) => other - one);
  return { requests: all.reduce((sum, [, requests]) => sum + requests, 0), organizations: all.map(([id]) => id) };
}

/** Returns a sentence about the callers of these operations; undefined if they are unknown. */
export function callersText(callers: Callers | undefined, operations: readonly string[]): string | undefined {
  if (callers === undefined) return undefined;
  const some = operations.flatMap((id) => callers.get(id) ?? []);
  if (some.length === 0) return `not called in the last ${DAYS} days`;
  const organizations = [...new Set(some.flatMap((one) => one.organizations))];
  const requests = some.reduce((sum, one) => sum + one.requests, 0);
  return `${countText(requests, 'request')} in the last ${DAYS} days, of ${firstNames(organizations, NAMED_MAX)}`;
}
