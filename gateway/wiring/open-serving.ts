// What serves requests now, and what still ends under configurations before it.

import type { KeyStore } from '../auth/store/store.ts';
import type { Configuration } from '../configuration.ts';
import type { Log } from '../observe/log.ts';
import { createServing, type Serving, type Shared } from '../serving.ts';
import { keepLengthenedCounters } from './lengthened-windows.ts';
import { warnOfLostTiers } from './lost-tiers.ts';

export interface OpenServing {
  /** Asked once per request: a request ends under the configuration that it began with. */
  current(): Serving;
  /** Serves the next requests under another configuration. */
  use(next: Configuration): void;
  close(): Promise<void>;
}

export function openServing(
  first: Configuration,
  shared: Shared,
  { store, log }: { readonly store: Pick<KeyStore, 'organizations'>; readonly log: Log },
): OpenServing {
  let serving = createServing(first, shared);
  const living = new Set([serving]);

  return {
    current: () => serving,
    use(next) {
      const before = serving;
      serving = createServing(next, shared);
      living.add(serving);
      void before.retire().then(() => living.delete(before));
      void keepLengthenedCounters(before.configuration.config.limits, next.config.limits, shared.counters, log);
      void warnOfLostTiers(before.configuration.config.limits, next.config.limits, store, log);
    },
    async close() {
      await Promise.all([...living].map((one) => one.close()));
    },
  };
}
