// How many gateways share the store, for whoever has to divide something among them, and most of all while the store cannot say so.

import type { KeyStore } from './store/store.ts';

const COUNTED_EVERY_MS = 5000;
/** Reports come every two seconds; one that has missed several is gone, or about to be. */
const SILENT_MAX_MS = 10_000;

export interface LiveInstances {
  /** As last counted; at least this one. */
  count(): number;
  stop(): void;
}

/** Counts at once and every few seconds; the timer does not keep the process alive. */
export function countLiveInstances(instances: Pick<KeyStore['instances'], 'list'>): LiveInstances {
  let count = 1;

  async function look(): Promise<void> {
    try {
      const live = (await instances.list()).filter(({ silentMs }) => silentMs <= SILENT_MAX_MS);
      // None, not even this one: the store is back from an outage, and nobody has reported yet.
      if (live.length > 0) count = live.length;
    } catch {
      // The store is away: what was true a moment ago is the best there is.
    }
  }

  const timer = setInterval(look, COUNTED_EVERY_MS).unref();
  void look();
  return { count: () => count, stop: () => clearInterval(timer) };
}
