// Who waits for a place at one upstream: a line per organization, served in turn, so that nobody waits behind the many of another.

import type { GatewayError } from '../errors.ts';

/** What one organization has at an upstream. */
export interface OrganizationShare {
  readonly organization: string;
  inFlight: number;
  /** Whoever came first stands first. */
  readonly waiting: QueueEntry[];
}

/** Told when the waiting ends. */
export interface Waiter {
  /** It has a place, to be given back. @param waitedMs how long that took */
  entered(share: OrganizationShare, waitedMs: number): void;
  refused(error: GatewayError, waitedMs: number): void;
}

/** A place in the line. Whoever takes it out tells its guest. */
export interface QueueEntry {
  readonly guest: Waiter;
  readonly share: OrganizationShare;
  /** `performance.now()` of its coming, and of the moment it stops waiting. */
  readonly sinceMs: number;
  readonly untilMs: number;
}

export interface FairQueue {
  length(): number;
  push(waiter: QueueEntry): void;
  /** Takes out who is next: of the organizations in turn the first with less than `most` in flight; without one, the first of all. */
  next(most: number): QueueEntry | undefined;
  /** Takes out the newest of the organization that has the most waiting. */
  newest(): QueueEntry | undefined;
  /** Takes out whoever may not wait any longer. */
  overdue(nowMs: number): QueueEntry[];
  /** False: it had been taken out before. */
  remove(waiter: QueueEntry): boolean;
  /** When the first of them stops waiting; Infinity if nobody waits. */
  firstUntilMs(): number;
}

export function createFairQueue(): FairQueue {
  /** Organizations of which somebody waits, in the order of their turns. */
  const turns: OrganizationShare[] = [];
  let length = 0;

  function take(share: OrganizationShare, at: number): QueueEntry {
    length -= 1;
    const [waiter] = share.waiting.splice(at, 1);
    if (share.waiting.length === 0) turns.splice(turns.indexOf(share), 1);
    return waiter as QueueEntry;
  }

  return {
    length: () => length,
    push(waiter) {
      length += 1;
      if (waiter.share.waiting.push(waiter) === 1) turns.push(waiter.share);
    },
    next(most) {
      const share = turns.find(({ inFlight }) => inFlight < most) ?? turns[0];
      if (share === undefined) return undefined;
      const waiter = take(share, 0);
      if (share.waiting.length > 0) {
        turns.splice(turns.indexOf(share), 1);
        turns.push(share);
      }
      return waiter;
    },
    newest() {
      let longest = turns[0];
      if (longest === undefined) return undefined;
      // Of several that are equally long, the one that began to wait last.
      for (const share of turns) if (share.waiting.length >= longest.waiting.length) longest = share;
      return take(longest, longest.waiting.length - 1);
    },
    overdue(nowMs) {
      const late = turns.flatMap(({ waiting }) => waiting.filter(({ untilMs }) => untilMs <= nowMs));
      for (const waiter of late) take(waiter.share, waiter.share.waiting.indexOf(waiter));
      return late;
    },
    remove(waiter) {
      const at = waiter.share.waiting.indexOf(waiter);
      if (at === -1) return false;
      take(waiter.share, at);
      return true;
    },
    firstUntilMs() {
      let first = Number.POSITIVE_INFINITY;
      for (const { waiting } of turns) for (const { untilMs } of waiting) first = Math.min(first, untilMs);
      return first;
    },
  };
}
