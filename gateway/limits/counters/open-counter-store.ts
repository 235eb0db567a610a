// Opens the counter store that the settings name: Redis, or the memory of this process if they name none. A new kind of store is added
// here.

import type { CounterStore } from './counter-store.ts';
import { createProcessStore } from './process-store.ts';
import { createRedisCounterStore, type RedisCounterStoreOptions } from './redis/redis-counter-store.ts';

/** The settings of the process that choose the store. */
interface CounterStoreSettings {
  readonly redisUrl: string | undefined;
}

interface OpenCounterStoreOptions extends Omit<RedisCounterStoreOptions, 'url'> {
  readonly settings: CounterStoreSettings;
}

/** Whether all gateways share the counters. A command can then read them without a running gateway. */
export function areCountersShared({ redisUrl }: CounterStoreSettings): boolean {
  return redisUrl !== undefined;
}

/**
 * Opens the store. If Redis cannot be reached, this function waits only for the first attempt to connect. Until Redis answers, the outage
 * policy decides.
 */
export async function openCounterStore({ settings, ...options }: OpenCounterStoreOptions): Promise<CounterStore> {
  const { redisUrl } = settings;
  if (redisUrl === undefined) return createProcessStore(options);
  const store = createRedisCounterStore({ url: redisUrl, ...options });
  await store.firstAttempt;
  return store;
}
