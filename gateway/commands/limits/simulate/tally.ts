// Pure: sums the outcomes of replayed requests under two sets of rules, in all, by tier, by organization and by limit.

import type { LimitDecision } from '../../../limits/counters/counter-store.ts';
import { ANONYMOUS_TIER } from '../../../limits/limit-rules.ts';
import { MINUTE_MS } from '../../../shared/durations.ts';
import type { LoggedRequest } from './logged-request.ts';

/** Outcomes under one set of rules. */
export interface Outcomes {
  refused: number;
  /** Requests that a limit without enforcement would have refused. */
  shadowRefused: number;
  worstMinute: Minute | undefined;
}

/** A clock minute, and the number of requests refused in it. */
interface Minute {
  /** Start of the minute, epoch milliseconds. */
  readonly atMs: number;
  refused: number;
}

export interface Tally {
  requests: number;
  /** Requests that were refused when they were recorded. */
  recordedRefused: number;
  readonly present: Outcomes;
  readonly candidate: Outcomes;
}

/** A request with its two decisions; a decision is undefined if no limit counts the request. */
interface ReplayedRequest {
  readonly atMs: number;
  readonly recordedRefused: boolean;
  readonly present: LimitDecision | undefined;
  readonly candidate: LimitDecision | undefined;
}

export interface OrganizationTally extends Tally {
  /** The organization; undefined for all anonymous callers together. */
  readonly organization: string | undefined;
  /** The tier of its last request. */
  readonly tier: string;
}

/** Number of requests that did not fit into one limit, enforced or not, under each of the two sets of rules. */
interface LimitTally {
  present: number;
  candidate: number;
}

export interface TallyResult {
  readonly total: Tally;
  readonly tiers: ReadonlyMap<string, Tally>;
  readonly organizations: readonly OrganizationTally[];
  readonly limits: ReadonlyMap<string, LimitTally>;
}

interface Tallies {
  add(recorded: LoggedRequest, replayed: ReplayedRequest): void;
  result(): TallyResult;
}

export function createTallies(): Tallies {
  const total = createTally();
  const tiers = new Map<string, OpenTally>();
  const organizations = new Map<string | undefined, { readonly of: OpenTally; tier: string }>();
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

function addTo(limits: Map<string, LimitTally>, rules: keyof LimitTally, decision: LimitDecision | undefined): void {
  if (decision === undefined) return;
  for (const policies of [decision.violated, decision.shadowRefusals]) {
    for (const policy of policies) {
      const tally = limits.get(policy) ?? { present: 0, candidate: 0 };
      tally[rules] += 1;
      limits.set(policy, tally);
    }
  }
}

/** Creates a tally. Requests must be added in the order of their times. */
/** A tally that counts on. */
interface OpenTally {
  readonly tally: Tally;
  add(replayed: ReplayedRequest): void;
}

function createTally(): OpenTally {
  const present = createOutcomes();
  const candidate = createOutcomes();
  const tally: Tally = {
    requests: 0,
    recordedRefused: 0,
    present: present.outcomes,
    candidate: candidate.outcomes,
  };
  return {
    tally,
    add(replayed) {
      tally.requests += 1;
      if (replayed.recordedRefused) tally.recordedRefused += 1;
      present.add(replayed.present, replayed.atMs);
      candidate.add(replayed.candidate, replayed.atMs);
    },
  };
}

function createOutcomes() {
  const outcomes: Outcomes = { refused: 0, shadowRefused: 0, worstMinute: undefined };
  let minute: Minute | undefined;
  return {
    outcomes,
    add(decision: LimitDecision | undefined, atMs: number): void {
      if (decision === undefined) return;
      if (decision.shadowRefusals.length > 0) outcomes.shadowRefused += 1;
      if (decision.outcome !== 'refused') return;
      outcomes.refused += 1;
      const beganAtMs = atMs - (atMs % MINUTE_MS);
      if (minute?.atMs !== beganAtMs) minute = { atMs: beganAtMs, refused: 0 };
      minute.refused += 1;
      if (minute.refused > (outcomes.worstMinute?.refused ?? 0)) outcomes.worstMinute = minute;
    },
  };
}
