// Extends the expiry of counters after a reload of limits.yaml with longer windows.

import type { CounterStore } from '../limits/counters/counter-store.ts';
import type { LimitRule, LimitRules } from '../limits/limit-rules.ts';
import type { Log } from '../observe/log/log.ts';

type Rules = Pick<LimitRules, 'tiers' | 'extra' | 'organizations'>;

/**
 * Extends the expiry of counters whose windows are longer now, so that earlier requests count in the longer window, too. Never rejects; a
 * failure of the store is logged.
 */
export async function extendLengthenedWindows(
  before: Rules,
  after: Rules,
  counters: CounterStore,
  log: Log,
): Promise<void> {
  const windowMs = longestLengthened(before, after);
  if (windowMs === undefined) return;
  try {
    await counters.extendExpiry(windowMs);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.logger.warn(
      { reason },
      'a window is longer now, but its counters could not be extended: requests counted before expire with the former window',
    );
  }
}

/** Returns the longest window that is new or longer than before, in milliseconds; undefined if there is no such window. */
export function longestLengthened(before: Rules, after: Rules): number | undefined {
  const lengthened = (['tiers', 'extra', 'organizations'] as const).flatMap((part) => {
    const former: Readonly<Record<string, LimitRule>> = before[part];
    return Object.entries<LimitRule>(after[part])
      .filter(([name, { windowSeconds }]) => windowSeconds > (former[name]?.windowSeconds ?? 0))
      .map(([, { windowSeconds }]) => windowSeconds * 1000);
  });
  return lengthened.length === 0 ? undefined : Math.max(...lengthened);
}
