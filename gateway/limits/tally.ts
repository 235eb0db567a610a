// Pure: sums the outcomes of replayed requests under two sets of rules, for one group of requests.

import type { LimitDecision } from './store.ts';

const MINUTE_MS = 60_000;

/** Outcomes under one set of rules. */
export interface Outcomes {
  refused: number;
  /** Requests that a limit without enforcement would have refused. */
  shadowRefused: number;
  worstMinute: Minute | undefined;
}

/** A clock minute, and the number of requests refused in it. */
export interface Minute {
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

/** One request with its two decisions; undefined where no limit counts it. */
export interface Replayed {
  readonly atMs: number;
  readonly recordedRefused: boolean;
  readonly present: LimitDecision | undefined;
  readonly candidate: LimitDecision | undefined;
}

/** Creates a tally. Requests must be added in the order of their times. */
export function createTally(): { readonly tally: Tally; add(replayed: Replayed): void } {
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
    add(verdict: LimitDecision | undefined, atMs: number): void {
      if (verdict === undefined) return;
      if (verdict.shadowRefusals.length > 0) outcomes.shadowRefused += 1;
      if (verdict.outcome !== 'refused') return;
      outcomes.refused += 1;
      const beganAtMs = atMs - (atMs % MINUTE_MS);
      if (minute?.atMs !== beganAtMs) minute = { atMs: beganAtMs, refused: 0 };
      minute.refused += 1;
      if (minute.refused > (outcomes.worstMinute?.refused ?? 0)) outcomes.worstMinute = minute;
    },
  };
}
