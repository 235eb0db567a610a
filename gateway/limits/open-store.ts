// Opens the counter store: Redis if one is configured, otherwise the memory of this process.

import { createProcessStore } from './process-store.ts';
import { createRedisCounterStore } from './redis-store.ts';
import type { AwayPolicy, CounterStore, CounterStoreStatus } from './store.ts';

export interface OpenCounterStoreOptions {
  readonly redisUrl: string | undefined;
  readonly whenStoreIsAway: () => AwayPolicy;
  readonly now: () => number;
  readonly onChange: (status: CounterStoreStatus) => void;
  /** Number of instances that share the limits now: each grants its share while Redis is away. */
  readonly instances?: () => number;
  readonly onBatch?: (durationMs: number) => void;
}

/** If Redis is away, this waits only for the first attempt to connect; the policy decides meanwhile. */
export async function openCounterStore({ redisUrl, now, ...options }: OpenCounterStoreOptions): Promise<CounterStore> {
  if (redisUrl === undefined) return createProcessStore({ now });
  const store = createRedisCounterStore({ url: redisUrl, now, ...options });
  await store.opened;
  return store;
}
