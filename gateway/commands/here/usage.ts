// The usage of an organization, from the store of this machine.

import type { Actions } from '../../administration/actions.ts';
import { listUsage, type UsageInput } from '../../administration/usage.ts';
import { GatewayError } from '../../catalogue/errors.ts';
import { ConfigError } from '../../shared/mistakes.ts';
import { type UsageQuestion, usagePage } from '../../usage/report.ts';
import { KEEP_DAYS_MAX } from '../../usage/settings.ts';
import { openUsageStore } from '../../usage/usage.ts';
import type { MachineContext } from '../context.ts';
import { knownHere, noOrganization } from './deps.ts';

const PAGE = 1000;

export function usageHere(context: MachineContext): Actions['usage'] {
  return {
    list: ({ organization = '', ...question }) => readAll(context, { organization, ...question, limit: PAGE }),
  };
}

/** Reads all pages. The counts are complete until the time that the first page names. */
async function readAll(context: MachineContext, input: Omit<UsageInput, 'position'>) {
  const keepDays = await keepDaysHere(context);
  const { store } = await context.keyStore();
  const { now } = context;
  const counts = await openUsageStore({ ...context.settings(), keepDays: () => keepDays, now });
  const page = (question: UsageQuestion) => usagePage(question, { store: counts, keepDays, nowMs: now() });
  const deps = { store, now, usage: { page } };
  try {
    const first = await listUsage(deps, input);
    const data = [...first.data];
    for (let position = first.next; position !== undefined; ) {
      const more = await listUsage(deps, { ...input, position });
      data.push(...more.data);
      position = more.next;
    }
    return { data: data as Readonly<Record<string, unknown>>[], complete_until: first.complete_until };
  } catch (error) {
    return await fail(context, input.organization, error);
  } finally {
    await counts.close();
  }
}

/** Returns the days for which counts are kept. While the files have mistakes, no count that still exists is left out. */
async function keepDaysHere(context: MachineContext): Promise<number> {
  try {
    return (await knownHere(context)).config.gateway.usage.keepDays;
  } catch (error) {
    if (error instanceof ConfigError) return KEEP_DAYS_MAX;
    throw error;
  }
}

async function fail(context: MachineContext, organization: string, error: unknown): Promise<never> {
  if (!(error instanceof GatewayError)) return context.fail('The usage store cannot be reached.');
  if (error.code === 'resource_missing')
    return context.fail(await noOrganization((await context.keyStore()).store, organization));
  return context.usage('--from is later than --to.');
}
