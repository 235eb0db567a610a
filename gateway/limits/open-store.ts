// Chooses the store of the counters: Redis when there is one to share, else this process.

import { createProcessStore } from './process-store.ts';
import { createRedisStore } from './redis-store.ts';
import type { AwayPolicy, CounterStore, StoreStatus } from './store.ts';

export interface OpenStoreOptions {
  readonly redisUrl: string | undefined;
  readonly whenStoreIsAway: () => AwayPolicy;
  readonly now: () => number;
  readonly onChange: (status: StoreStatus) => void;
  /** How many instances share the limits now: each gives out its share while Redis is away. */
  readonly instances?: () => number;
  readonly onBatch?: (durationMs: number) => void;
}

/** A Redis that is away does not delay the start for longer than its first attempt; the policy decides meanwhile. */
export async function openCounterStore({ redisUrl, now, ...options }: OpenStoreOptions): Promise<CounterStore> {
  if (redisUrl === undefined) return createProcessStore({ now });
  const store = createRedisStore({ url: redisUrl, now, ...options });
  await store.opened;
  return store;
}
