// Wiring of a reload that makes windows longer: what was counted before counts in the longer window, too.

import { longestLengthened } from '../limits/lengthened.ts';
import type { CounterStore } from '../limits/store.ts';
import type { Log } from '../observe/log.ts';

type Rules = Parameters<typeof longestLengthened>[0];

/** Never rejects: a store that is away is said in the log. */
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
