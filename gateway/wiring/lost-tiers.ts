// Organizations whose tier a new configuration does not have any more: they are served on, under the strictest one, which somebody
// should know.

import type { KeyStore } from '../auth/store/store.ts';
import type { LimitsFile } from '../config/schema.ts';
import type { Log } from '../observe/log.ts';

type Tiers = Pick<LimitsFile, 'tiers'>;

/** Warns once per tier that was removed while organizations have it. Looks at the store only if one was. */
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
      'tiers were removed, and whether organizations have them is not known',
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
