// Pure: finds the windows that a reload has made longer.

import type { LimitRule, LimitRules } from './counters.ts';

type Rules = Pick<LimitRules, 'tiers' | 'extra' | 'organizations'>;

/** Returns the longest window that is new or longer than before, in milliseconds; undefined if none is. */
export function longestLengthened(before: Rules, after: Rules): number | undefined {
  const lengthened = (['tiers', 'extra', 'organizations'] as const).flatMap((part) => {
    const former: Readonly<Record<string, LimitRule>> = before[part];
    return Object.entries<LimitRule>(after[part])
      .filter(([name, { windowSeconds }]) => windowSeconds > (former[name]?.windowSeconds ?? 0))
      .map(([, { windowSeconds }]) => windowSeconds * 1000);
  });
  return lengthened.length === 0 ? undefined : Math.max(...lengthened);
}
