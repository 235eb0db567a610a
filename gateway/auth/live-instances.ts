// Counts the gateways that report to the key store (instance-reports.ts), for limits that are divided among them.

import { REAL_MACHINE, type Timer } from '../shared/machine.ts';
import type { KeyStore } from './store/key-store.ts';

const COUNTED_EVERY_MS = 5000;
/** Instances report every two seconds, so an instance that has missed several reports has stopped or is about to stop. */
const SILENT_MAX_MS = 10_000;

export interface LiveInstances {
  /** Returns the number of gateways, as last counted; at least 1. */
  count(): number;
  /** Counts now and every few seconds. Call it after this instance has begun to report. The timer does not keep the process alive. */
  begin(): void;
  stop(): void;
}

/** Keeps the last count while the store cannot be reached. `count` returns 1 until `begin` is called. */
export function createLiveInstances(
  instances: Pick<KeyStore['instances'], 'list'>,
  { setInterval, clearInterval } = REAL_MACHINE,
): LiveInstances {
  let count = 1;
  let timer: Timer | undefined;

  async function countAll(): Promise<void> {
    try {
      const live = (await instances.list()).filter(({ silentMs }) => silentMs <= SILENT_MAX_MS);
      // An empty list is ignored. It lacks even this instance, because the store is just back from an outage and no instance has reported
      // yet.
      if (live.length > 0) count = live.length;
    } catch {
      // The store cannot be reached, so the last count is kept.
    }
  }

  return {
    count: () => count,
    begin() {
      timer = setInterval(countAll, COUNTED_EVERY_MS).unref();
      void countAll();
    },
    stop: () => clearInterval(timer),
  };
}
