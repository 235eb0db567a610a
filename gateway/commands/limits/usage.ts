// Gives commands access to the counters: in the store that all gateways share if one is configured, otherwise through the running gateway,
// whose memory holds them.

import { resetLimits } from '../../administration/limits.ts';
import { liveKeysOf } from '../../auth/organization-search.ts';
import type { Configuration } from '../../configuration.ts';
import { areCountersShared, openCounterStore } from '../../limits/open-counter-store.ts';
import { createLimitUsage } from '../../limits/usage.ts';
import type { CommandContext } from '../context.ts';
import { createRemoteUsage, type LimitActions } from './remote-usage.ts';

/** Long, because no client waits for a command and the operator may be far from Redis. */
const DEADLINE_MS = 2000;

/** Runs `work` with the counters. */
export async function withUsage<T>(context: CommandContext, work: (usage: LimitActions) => Promise<T>): Promise<T> {
  if (!areCountersShared(context.settings())) return work(createRemoteUsage(context));
  return withSharedStore(context, await context.configuration(), work);
}

/** The store holds the counters of all gateways, so no gateway needs to run. */
async function withSharedStore<T>(
  context: CommandContext,
  { config, contracts }: Configuration,
  work: (usage: LimitActions) => Promise<T>,
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
    const usage = createLimitUsage({
      store: counters,
      rules: () => config.limits,
      operations: () => operations,
      organizationOf: store.organizations.get,
      keysOf: (organization) => liveKeysOf(store, organization, now()),
    });
    const reset = resetLimits({ store, limits: usage, now });
    return await work({
      show: usage.show,
      reset: (organization, by) => reset({ kind: 'command', by }, { organization }),
    });
  } catch (error) {
    // In a Cluster, a server that this command does not use may be unreachable.
    const { state, reason } = counters.status();
    if (state === 'away') context.fail(`The counters in Redis cannot be reached: ${reason}.`);
    throw error;
  } finally {
    await counters.close();
  }
}
