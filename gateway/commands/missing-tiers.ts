// Warns for `check` of organizations on tiers that are missing in `limits.yaml`, because a misspelt tier would silently limit them as the
// strictest tier.

import { readTiers } from '../auth/store/read-tiers.ts';
import type { Settings } from '../config/settings.ts';
import { type LimitRules, lacksTier, strictestTierOf } from '../limits/limit-rules.ts';
import { closest } from '../shared/mistakes.ts';

/** Resolves with one sentence for each missing tier; empty if the organizations cannot be read from here. */
export async function missingTierWarnings(
  settings: Settings,
  rules: Pick<LimitRules, 'tiers' | 'organizations'>,
): Promise<string[]> {
  const missing = new Map<string, Set<string>>();
  await readTiers(settings, (id, tier) => {
    if (lacksTier(rules, id, tier)) missing.set(tier, (missing.get(tier) ?? new Set()).add(id));
  });
  const strictest = strictestTierOf(rules.tiers)?.name;
  return [...missing].sort().map(([tier, { size }]) => {
    const [who, they] = size === 1 ? ['1 organization is', 'it gets'] : [`${size} organizations are`, 'they get'];
    const consequence =
      strictest === undefined ? 'no tier limits them' : `${they} the limits of ${strictest}, the strictest`;
    const likely = closest(tier, Object.keys(rules.tiers));
    const remedy = likely === undefined ? 'Add it, or give them another tier.' : `Did you mean ${likely}?`;
    return `${who} on tier ${tier}, which limits.yaml does not have: ${consequence}. ${remedy}`;
  });
}
