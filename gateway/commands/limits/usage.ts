// Where commands find the counters: in Redis if there is one, else in the memory of the gateway that runs, which is asked.

import { liveKeysOf } from '../../auth/live-keys.ts';
import type { Settings } from '../../config/load.ts';
import type { Configuration } from '../../configuration.ts';
import { createRedisCounterStore } from '../../limits/redis-store.ts';
import { createLimitUsage, type LimitUsage } from '../../limits/usage.ts';
import { type CommandContext, withStore } from '../context.ts';
import { createRemoteUsage } from './remote-usage.ts';

/** No client waits for a command, and it may be run from far away. */
const DEADLINE_MS = 2000;

/** Does one piece of work with the counters, wherever they are. */
export type WithUsage = <T>(work: (usage: LimitUsage) => Promise<T>) => Promise<T>;

export interface UsagePlaces {
  settings(): Settings;
  configuration(): Promise<Configuration>;
  /** The secret of the admin listener, if there is one. */
  adminToken(): string | undefined;
}

export function createWithUsage(context: CommandContext, places: UsagePlaces): WithUsage {
  return async function withUsage(work) {
    const settings = places.settings();
    const { redisUrl } = settings;
    if (redisUrl === undefined) return work(createRemoteUsage(context, settings, places.adminToken()));
    return withRedis(context, redisUrl, await places.configuration(), work);
  };
}

/** Redis has the counters of all gateways, so none of them has to run. */
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
    return await withStore(context, ({ store }) =>
      work(
        createLimitUsage({
          store: counters,
          rules: () => config.limits,
          operations: () => operations,
          organizationOf: store.organizations.get,
          keysOf: (organization) => liveKeysOf(store, organization, now()),
          noteReset: store.audit.appendReset,
        }),
      ),
    );
  } catch (error) {
    // Of a Cluster, a server that is not asked may be away.
    const { state, reason } = counters.status();
    if (state === 'away') context.fail(`The counters in Redis cannot be reached: ${reason}.`);
    throw error;
  } finally {
    await counters.close();
  }
}
