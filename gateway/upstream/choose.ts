// Which of several targets gets a request: the one with the fewest requests on it, among those that work.

import { type EjectionRules, type OutlierState, SELECTION_RANK, selectionRankOf } from './outlier-detection.ts';

export interface Candidate {
  readonly standing: OutlierState;
}

/**
 * Best are targets that work and have not been tried, then those that are only coming back, then those that were tried. If none works,
 * all count as working: a guess that may be wrong is better than a refusal that is certain. Equally good ones take turns.
 *
 * @param turn another number each time
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
    let rank = selectionRankOf(candidate.standing, rules, nowMs);
    if (tried?.includes(candidate) === true) rank += SELECTION_RANK.tried;
    if (best !== undefined) {
      if (rank > bestRank) continue;
      if (rank === bestRank && candidate.standing.outstanding >= best.standing.outstanding) continue;
    }
    best = candidate;
    bestRank = rank;
  }
  return best as C;
}
