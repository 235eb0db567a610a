// Gives commands access to the counters: in Redis if it is configured, otherwise through the running gateway, whose memory holds them.

import { liveKeysOf } from '../../auth/live-keys.ts';
import type { Configuration } from '../../configuration.ts';
import { createRedisCounterStore } from '../../limits/redis-store.ts';
import { createLimitUsage, type LimitUsage } from '../../limits/usage.ts';
import type { CommandContext } from '../context.ts';
import { createRemoteUsage } from './remote-usage.ts';

/** Long, because no client waits for a command and the operator may be far from Redis. */
const DEADLINE_MS = 2000;

/** Runs `work` with the counters. */
export async function withUsage<T>(context: CommandContext, work: (usage: LimitUsage) => Promise<T>): Promise<T> {
  const { redisUrl } = context.settings();
  if (redisUrl === undefined) return work(createRemoteUsage(context));
  return withRedis(context, redisUrl, await context.configuration(), work);
}

/** Redis holds the counters of all gateways, so no gateway needs to run. */
async function withRedis<T>(
  context: CommandContext,
  redisUrl: string,
  { config, contracts }: Configuration,
  work: (usage: LimitUsage) => Promise<T>,
): Promise<T> {
  const { now } = context;
  const whenStoreIsAway = () => 'refuse' as const;
  const counters = createRedisCounterStore({ url: redisUrl, whenStoreIsAway, now, deadlineMs: DEADLINE_MS });
  try {
    await counters.opened;
    const operations = contracts.operations.map(({ operation }) => operation);
    const { store } = await context.keyStore();
    const usage = createLimitUsage({
      store: counters,
      rules: () => config.limits,
      operations: () => operations,
      organizationOf: store.organizations.get,
      keysOf: (organization) => liveKeysOf(store, organization, now()),
      noteReset: store.audit.appendReset,
    });
    return await work(usage);
  } catch (error) {
    // In a Cluster, a server that this command does not use may be unreachable.
    const { state, reason } = counters.status();
    if (state === 'away') context.fail(`The counters in Redis cannot be reached: ${reason}.`);
    throw error;
  } finally {
    await counters.close();
  }
}
