// Pure: sums replayed requests in all, by tier, by organization and by limit.

import { ANONYMOUS_TIER } from './counters.ts';
import type { Recorded } from './recorded.ts';
import type { LimitDecision } from './store.ts';
import { createTally, type Replayed, type Tally } from './tally.ts';

export interface OrganizationTally extends Tally {
  /** Absent: all anonymous callers together. */
  readonly organization: string | undefined;
  /** The tier of its last request. */
  readonly tier: string;
}

/** Number of requests that did not fit into one limit, enforced or not, under each of the two sets of rules. */
export interface LimitTally {
  present: number;
  candidate: number;
}

export interface TalliesResult {
  readonly total: Tally;
  readonly tiers: ReadonlyMap<string, Tally>;
  readonly organizations: readonly OrganizationTally[];
  readonly limits: ReadonlyMap<string, LimitTally>;
}

export interface Tallies {
  add(recorded: Recorded, replayed: Replayed): void;
  result(): TalliesResult;
}

export function createTallies(): Tallies {
  const total = createTally();
  const tiers = new Map<string, ReturnType<typeof createTally>>();
  const organizations = new Map<string | undefined, { readonly of: ReturnType<typeof createTally>; tier: string }>();
  const limits = new Map<string, LimitTally>();

  return {
    add({ organization, tier = ANONYMOUS_TIER }, replayed) {
      total.add(replayed);
      const ofTier = tiers.get(tier) ?? createTally();
      ofTier.add(replayed);
      tiers.set(tier, ofTier);
      const known = organizations.get(organization) ?? { of: createTally(), tier };
      known.of.add(replayed);
      known.tier = tier;
      organizations.set(organization, known);
      addTo(limits, 'present', replayed.present);
      addTo(limits, 'candidate', replayed.candidate);
    },
    result: () => ({
      total: total.tally,
      tiers: new Map([...tiers].map(([tier, { tally }]) => [tier, tally])),
      organizations: [...organizations].map(([organization, { of, tier }]) => ({ ...of.tally, organization, tier })),
      limits,
    }),
  };
}

function addTo(limits: Map<string, LimitTally>, rules: keyof LimitTally, verdict: LimitDecision | undefined): void {
  if (verdict === undefined) return;
  for (const policies of [verdict.violated, verdict.shadowRefusals]) {
    for (const policy of policies) {
      const tally = limits.get(policy) ?? { present: 0, candidate: 0 };
      tally[rules] += 1;
      limits.set(policy, tally);
    }
  }
}
