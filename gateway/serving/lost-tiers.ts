// Warns of organizations whose tier is no longer in the configuration: they are served with the strictest tier, which operators should
// see.

import type { KeyStore } from '../auth/store/key-store.ts';
import type { LimitsFile } from '../config/limits-file.ts';
import type { Log } from '../observe/log.ts';

type Tiers = Pick<LimitsFile, 'tiers'>;

/** Warns once per removed tier that organizations still have. Reads the store only if a tier was removed. */
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
