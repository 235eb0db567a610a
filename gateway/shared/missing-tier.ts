// Pure: writes the sentence for operators about a tier of organizations that is missing in `limits.yaml`.

/** Returns a sentence about a missing tier. @param inPlace the tier whose limits apply instead; undefined if there is none */
export function missingTierText(tier: string, inPlace: string | undefined): string {
  const instead =
    inPlace === undefined ? ', and no tier is in its place' : `: ${inPlace}, the strictest, is in its place`;
  return `tier ${tier} is not in limits.yaml${instead}`;
}

/**
 * Returns the tier whose limits apply instead of the organization's tier, from the path of the rule in force; undefined if this is the rule
 * of the organization or of its tier.
 */
export function tierInPlaceOf(tier: string, rule: string | undefined): string | undefined {
  const [, ruling] = /^tiers\.(.*)$/.exec(rule ?? '') ?? [];
  return ruling === tier ? undefined : ruling;
}
