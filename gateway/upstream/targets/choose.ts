// Chooses the target for a request: of the working targets, the one with the fewest outstanding requests.

import { type EjectionRules, rankForChoice, SELECTION_RANK, type TargetState } from './outlier-detection.ts';

export interface Candidate {
  readonly targetState: TargetState;
}

/**
 * Prefers working targets that were not tried, then returning ones, then tried ones. If no target works, all are candidates: an attempt
 * that may fail is better than a certain refusal. Equal candidates take turns.
 *
 * @param turn a different number for each call
 */
export function choose<C extends Candidate>(
  candidates: readonly C[],
  rules: EjectionRules | 'off',
  nowMs: number,
  turn: number,
  tried: readonly unknown[] | undefined,
): C {
  let best: C | undefined;
  let bestRank = 0;
  for (let i = 0; i < candidates.length; i++) {
    const candidate = candidates[(turn + i) % candidates.length] as C;
    let rank = rankForChoice(candidate.targetState, rules, nowMs);
    if (tried?.includes(candidate) === true) rank += SELECTION_RANK.tried;
    if (best !== undefined) {
      if (rank > bestRank) continue;
      if (rank === bestRank && candidate.targetState.outstanding >= best.targetState.outstanding) continue;
    }
    best = candidate;
    bestRank = rank;
  }
  return best as C;
}
