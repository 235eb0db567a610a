// Checks the deadlines of all exchanges with an upstream by one timer, because a timer per exchange costs 0.5 µs of CPU, and few deadlines
// expire.

import type { Forwardable } from '../../exchange/exchange.ts';
import { STILL_MS } from '../../shared/deadline.ts';
import { createDenseSet, type DenseSetEntry } from '../../shared/dense-set.ts';
import { contain } from '../../shared/faults.ts';

/** An exchange in progress. A timer calls it. */
export interface DeadlineOwner {
  readonly exchange: Pick<Forwardable, 'operation' | 'caller'>;
  readonly clock: { unansweredSince(): number | undefined };
  /** @param now as `performance.now()` counts */
  checkDeadlines(now: number): void;
}

export interface Deadlines {
  add(owner: DeadlineOwner): DenseSetEntry<DeadlineOwner>;
  remove(entry: DenseSetEntry<DeadlineOwner>): void;
  /** The exchanges in progress. */
  owners(): readonly DeadlineOwner[];
}

/** The interval of the timer is a tenth of the shortest deadline, but at most 50 ms. A deadline is noticed at most one interval late. */
const LATE_PART = 0.1;
const LATE_MS_MAX = 50;

/** @param shortestMs the shortest deadline that is watched */
export function createDeadlines(shortestMs: number): Deadlines {
  const owners = createDenseSet<DeadlineOwner>();
  const everyMs = Math.max(1, Math.min(LATE_MS_MAX, shortestMs * LATE_PART));
  let isScheduled = false;
  let dueAt = 0;
  let isExtended = false;

  function schedule(): void {
    isScheduled = true;
    dueAt = performance.now() + everyMs;
    // `setImmediate` lets Node read the sockets before the check. After a busy turn they may hold answers that arrived in time.
    setTimeout(() => setImmediate(checkAll), everyMs);
  }

  function checkAll(): void {
    isScheduled = false;
    if (owners.size() === 0) return;
    const now = performance.now();
    // After a pause of the whole process, the check waits for one more interval. The requests may not have been written during the pause,
    // so it is not the upstreams that are late.
    isExtended = !isExtended && now - dueAt > STILL_MS;
    if (!isExtended) for (const owner of owners.all()) contain(() => owner.checkDeadlines(now));
    schedule();
  }

  return {
    add(owner) {
      if (!isScheduled) schedule();
      return owners.add(owner);
    },
    remove: owners.remove,
    owners: owners.all,
  };
}
