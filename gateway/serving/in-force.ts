// Holds the serving object of the configuration in force, and earlier ones until their requests have ended.

import type { Configuration } from '../configuration.ts';
import { extendLengthenedWindows, warnOfLostTiers } from './changed-limits.ts';
import { createServing, type Serving, type Shared } from './serving.ts';

export interface OpenServing {
  /** Called once per request, so that a request ends under the configuration it began with. */
  current(): Serving;
  /** Serves all following requests under another configuration. */
  use(next: Configuration): void;
  close(): Promise<void>;
}

export function openServing(first: Configuration, shared: Shared): OpenServing {
  const { log } = shared.observation;
  let serving = createServing(first, shared);
  const open = new Set([serving]);

  return {
    current: () => serving,
    use(next) {
      const before = serving;
      serving = createServing(next, shared);
      open.add(serving);
      void before.retire().then(() => open.delete(before));
      void extendLengthenedWindows(
        before.configuration.config.limits,
        next.config.limits,
        shared.counters.requests,
        log,
      );
      void warnOfLostTiers(before.configuration.config.limits, next.config.limits, shared.options.store, log);
    },
    async close() {
      await Promise.all([...open].map((one) => one.close()));
    },
  };
}
