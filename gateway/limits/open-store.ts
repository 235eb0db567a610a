// Chooses the store of the counters: Redis when there is one to share, else this process.

import { createProcessStore } from './process-store.ts';
import { createRedisCounterStore } from './redis-store.ts';
import type { AwayPolicy, CounterStore, CounterStoreStatus } from './store.ts';

export interface OpenCounterStoreOptions {
  readonly redisUrl: string | undefined;
  readonly whenStoreIsAway: () => AwayPolicy;
  readonly now: () => number;
  readonly onChange: (status: CounterStoreStatus) => void;
  /** How many instances share the limits now: each gives out its share while Redis is away. */
  readonly instances?: () => number;
  readonly onBatch?: (durationMs: number) => void;
}

/** A Redis that is away does not delay the start for longer than its first attempt; the policy decides meanwhile. */
export async function openCounterStore({ redisUrl, now, ...options }: OpenCounterStoreOptions): Promise<CounterStore> {
  if (redisUrl === undefined) return createProcessStore({ now });
  const store = createRedisCounterStore({ url: redisUrl, now, ...options });
  await store.opened;
  return store;
}
