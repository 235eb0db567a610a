// One clock for all that is under way to an upstream: a timer for each exchange costs half a microsecond of CPU, and hardly any runs out.

import { createDenseSet, type DenseSetEntry } from '../dense-set.ts';

export interface DeadlineOwner {
  /** Is anything overdue? @param now as `performance.now()` counts */
  look(now: number): void;
}

export interface Deadlines {
  add(watched: DeadlineOwner): DenseSetEntry<DeadlineOwner>;
  remove(entry: DenseSetEntry<DeadlineOwner>): void;
}

/** What is overdue is noticed so much later at most: a tenth of the time it had, and never more than this. */
const LATE_PART = 0.1;
const LATE_MS_MAX = 50;

/** @param shortestMs the least of the times that are watched */
export function createDeadlines(shortestMs: number): Deadlines {
  const roster = createDenseSet<DeadlineOwner>();
  const everyMs = Math.max(1, Math.min(LATE_MS_MAX, shortestMs * LATE_PART));
  let isLooking = false;

  function lookLater(): void {
    isLooking = true;
    setTimeout(lookAtAll, everyMs);
  }

  function lookAtAll(): void {
    isLooking = false;
    if (roster.size() === 0) return;
    const now = performance.now();
    for (const watched of roster.all()) watched.look(now);
    lookLater();
  }

  return {
    add(watched) {
      if (!isLooking) lookLater();
      return roster.add(watched);
    },
    remove: roster.remove,
  };
}
