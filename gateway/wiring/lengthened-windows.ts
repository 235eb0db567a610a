// Keeps counters when a reload makes windows longer, so that earlier requests count in the longer window, too.

import { longestLengthened } from '../limits/lengthened.ts';
import type { CounterStore } from '../limits/store.ts';
import type { Log } from '../observe/log.ts';

type Rules = Parameters<typeof longestLengthened>[0];

/** Never rejects: logs a store failure. */
export async function keepLengthenedCounters(
  before: Rules,
  after: Rules,
  counters: CounterStore,
  log: Log,
): Promise<void> {
  const windowMs = longestLengthened(before, after);
  if (windowMs === undefined) return;
  try {
    await counters.keep(windowMs);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.logger.warn({ reason }, 'a window is longer now, but what was counted in it before expires as it would have');
  }
}
