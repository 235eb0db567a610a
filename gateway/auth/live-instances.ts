// How many gateways share the store, for whoever has to divide something among them, and most of all while the store cannot say so.

import type { KeyStore } from './store/store.ts';

const COUNTED_EVERY_MS = 5000;
/** Reports come every two seconds; one that has missed several is gone, or about to be. */
const SILENT_MAX_MS = 10_000;

export interface LiveInstances {
  /** As last counted; at least this one. */
  count(): number;
  /** Counts now and every few seconds. Called when this instance has begun to report itself; the timer does not keep the process alive. */
  begin(): void;
  stop(): void;
}

/** Answers 1 until `begin` is called. */
export function createLiveInstances(instances: Pick<KeyStore['instances'], 'list'>): LiveInstances {
  let count = 1;
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    try {
      const live = (await instances.list()).filter(({ silentMs }) => silentMs <= SILENT_MAX_MS);
      // None, not even this one: the store is back from an outage, and nobody has reported yet.
      if (live.length > 0) count = live.length;
    } catch {
      // The store is away: what was true a moment ago is the best there is.
    }
  }

  return {
    count: () => count,
    begin() {
      timer = setInterval(look, COUNTED_EVERY_MS).unref();
      void look();
    },
    stop: () => clearInterval(timer),
  };
}
