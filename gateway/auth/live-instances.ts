// Counts the gateways that share the store, for limits that are divided among them. Keeps the last count while the store is away.

import { realMachine, type Timer } from '../shared/machine.ts';
import type { KeyStore } from './store/key-store.ts';

const COUNTED_EVERY_MS = 5000;
/** Instances report every two seconds: an instance that has missed several reports has stopped or is about to stop. */
const SILENT_MAX_MS = 10_000;

export interface LiveInstances {
  /** The last count; at least 1. */
  count(): number;
  /**
   * Counts now and every few seconds. Call it after this instance has begun to report itself; the timer does not keep the process alive.
   */
  begin(): void;
  stop(): void;
}

/** `count` returns 1 until `begin` is called. */
export function createLiveInstances(
  instances: Pick<KeyStore['instances'], 'list'>,
  { setInterval, clearInterval } = realMachine,
): LiveInstances {
  let count = 1;
  let timer: Timer | undefined;

  async function look(): Promise<void> {
    try {
      const live = (await instances.list()).filter(({ silentMs }) => silentMs <= SILENT_MAX_MS);
      // An empty list lacks even this instance: the store is back from an outage, and no instance has reported yet.
      if (live.length > 0) count = live.length;
    } catch {
      // The store is away: keep the last count.
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
