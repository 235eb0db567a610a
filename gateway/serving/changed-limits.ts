// What a reload of limits.yaml leaves to be done: counters of windows that are longer now, and organizations whose tier is gone.

import type { KeyStore } from '../auth/store/key-store.ts';
import type { CounterStore } from '../limits/counters/counter-store.ts';
import type { LimitRule, LimitRules } from '../limits/limit-rules.ts';
import type { LimitsFile } from '../limits/settings.ts';
import type { Log } from '../observe/log/log.ts';

type Rules = Pick<LimitRules, 'tiers' | 'extra' | 'organizations'>;

/**
 * Extends the expiry of counters whose windows are longer now, so that earlier requests count in the longer window, too. Never rejects:
 * logs a store failure.
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

type Tiers = Pick<LimitsFile, 'tiers'>;

/**
 * Warns of organizations whose tier is no longer in the configuration: they are served with the strictest tier, which operators should see.
 * Warns once per removed tier that organizations still have. Reads the store only if a tier was removed.
 */
export async function warnOfLostTiers(
  before: Tiers,
  after: Tiers,
  { organizations }: Pick<KeyStore, 'organizations'>,
  { logger }: Log,
): Promise<void> {
  const lost = new Map(Object.keys(before.tiers).flatMap((tier) => (tier in after.tiers ? [] : [[tier, 0]])));
  if (lost.size === 0) return;
  try {
    for await (const page of organizations.scan()) {
      for (const { tier } of page) if (lost.has(tier)) lost.set(tier, (lost.get(tier) ?? 0) + 1);
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    logger.warn(
      { reason, tiers: [...lost.keys()] },
      'tiers were removed, but the store cannot be read, so it is unknown whether organizations have them',
    );
    return;
  }
  const instead =
    Object.keys(after.tiers).length === 0
      ? 'none is left, so they are not limited'
      : 'the strictest one is in its place';
  for (const [tier, count] of lost) {
    if (count === 0) continue;
    logger.warn({ tier, organizations: count }, `a tier was removed that organizations have; ${instead}`);
  }
}
