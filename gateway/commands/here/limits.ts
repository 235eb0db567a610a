// The limits of organizations on this machine. They are in the store that all gateways share if one is configured, otherwise in the memory
// of the running gateway.

import type { Actions } from '../../administration/actions.ts';
import { resetLimits } from '../../administration/limits.ts';
import { workingKeysOf } from '../../auth/store/stored-key.ts';
import { placeOfRule } from '../../config/rule-place.ts';
import type { Configuration } from '../../configuration.ts';
import { areCountersShared, openCounterStore } from '../../limits/counters/open-counter-store.ts';
import { createLimitUsage, type LimitUsageReport, type ResetReport } from '../../limits/limit-usage.ts';
import { absenceText, complaintOf } from '../admin-client.ts';
import type { MachineContext } from '../context.ts';
import { orInForce } from '../or-in-force.ts';
import { actorOf, knownHere, noOrganization } from './deps.ts';

/** The deadline is long, because no client waits for a command, and the operator may be far from Redis. */
const DEADLINE_MS = 2000;

export function limitsHere(context: MachineContext): Actions['limits'] {
  const knownReport = async <Report>(report: Report | undefined, organization: string): Promise<Report> =>
    report ?? context.fail(await noOrganization((await context.keyStore()).store, organization));
  return {
    async show(organization = '') {
      const report = await orInForce(
        context,
        () => withCounters(context, ({ show }) => show(organization)),
        () => runningLimits(context).show(organization),
      );
      return knownReport(report, organization);
    },
    reset: async (organization) =>
      knownReport(await withCounters(context, ({ reset }) => reset(organization)), organization),
  };
}

/** Runs `work` with the counters. */
export async function withCounters<T>(
  context: MachineContext,
  work: (counters: CountersHere) => Promise<T>,
): Promise<T> {
  if (!areCountersShared(context.settings())) return work(runningLimits(context));
  return withSharedStore(context, await knownHere(context), work);
}

/** Runs a function on the counters in Redis, which all gateways share. No gateway needs to run. */
async function withSharedStore<T>(
  context: MachineContext,
  { config, contracts }: Configuration,
  work: (counters: CountersHere) => Promise<T>,
): Promise<T> {
  const { now } = context;
  const counters = await openCounterStore({
    settings: context.settings(),
    whenStoreIsAway: () => 'refuse',
    now,
    deadlineMs: DEADLINE_MS,
  });
  try {
    const operations = contracts.operations.map(({ operation }) => operation);
    const { store } = await context.keyStore();
    const limitUsage = createLimitUsage({
      store: counters,
      rules: () => config.limits,
      operations: () => operations,
      organizationOf: store.organizations.get,
      keysOf: (organization) => workingKeysOf(store, organization, now()),
      placeOf: (rule) => placeOfRule(config.sources, rule),
    });
    return await work({
      show: limitUsage.show,
      reset: (organization) => resetLimits({ store, limitUsage, now }, actorOf(context), { organization }),
    });
  } catch (error) {
    // In a Cluster, the unreachable server may be one that this command does not use.
    const { state, reason } = counters.status();
    if (state === 'away') context.fail(`The counters in Redis cannot be reached: ${reason}.`);
    throw error;
  } finally {
    await counters.close();
  }
}

/** Both methods return undefined for an unknown organization. */
interface CountersHere {
  show(organization: string): Promise<LimitUsageReport | undefined>;
  reset(organization: string): Promise<ResetReport | undefined>;
}

/** Reads and resets counters through the admin listener. Ends the command if no gateway answers. */
function runningLimits({
  fail,
  adminClient,
  actor: by,
}: Pick<MachineContext, 'fail' | 'adminClient' | 'actor'>): CountersHere {
  const client = adminClient();

  async function ask(method: 'GET' | 'POST', path: string, query: Readonly<Record<string, string>>): Promise<unknown> {
    const answer = await client.ask(method, `${path}?${new URLSearchParams(query)}`);
    if (answer === undefined)
      return fail(`${absenceText(client)} Without REDIS_URL, only the memory of the gateway has the counters.`);
    const { status, body } = answer;
    if (status >= 200 && status < 300) return body;
    if (status === 404 && body.code === 'organization_unknown') return undefined;
    return fail(complaintOf(client, answer));
  }

  return {
    show: async (organization) => (await ask('GET', '/limits', { organization })) as LimitUsageReport | undefined,
    reset: async (organization) =>
      (await ask('POST', '/limits/reset', { organization, by })) as ResetReport | undefined,
  };
}
