// The queue of requests that wait for a place at one upstream: one list per organization, served round robin, so that one organization's
// burst does not delay the others.

import type { GatewayError } from '../errors.ts';

/** The requests of one organization at an upstream. */
export interface OrganizationShare {
  readonly organization: string;
  inFlight: number;
  /** Oldest first. */
  readonly waiting: QueueEntry[];
}

/** Receives the end of the wait. */
export interface Waiter {
  /**
   * The request has a place, which must be given back.
   *
   * @param waitedMs time in the queue
   */
  entered(share: OrganizationShare, waitedMs: number): void;
  refused(error: GatewayError, waitedMs: number): void;
}

/** An entry of the queue. The code that takes it out for service or refusal must call its waiter. */
export interface QueueEntry {
  readonly waiter: Waiter;
  readonly share: OrganizationShare;
  /** `performance.now()` at its arrival, and at the end of its permitted wait. */
  readonly sinceMs: number;
  readonly untilMs: number;
}

export interface FairQueue {
  length(): number;
  push(entry: QueueEntry): void;
  /**
   * Removes the next entry: of the first organization in turn with fewer than `most` requests in flight; if none is below that, of the
   * first one.
   */
  next(most: number): QueueEntry | undefined;
  /** Removes the newest entry of the organization with the most entries. */
  newest(): QueueEntry | undefined;
  /** Removes all entries whose wait has expired. */
  overdue(nowMs: number): QueueEntry[];
  /** Returns false if the entry was already removed. */
  remove(entry: QueueEntry): boolean;
  /** The earliest end of a wait; Infinity if the queue is empty. */
  firstUntilMs(): number;
}

export function createFairQueue(): FairQueue {
  /** Organizations with entries, in the order of their turns. */
  const turns: OrganizationShare[] = [];
  let length = 0;

  function take(share: OrganizationShare, at: number): QueueEntry {
    length -= 1;
    const [entry] = share.waiting.splice(at, 1);
    if (share.waiting.length === 0) turns.splice(turns.indexOf(share), 1);
    return entry as QueueEntry;
  }

  return {
    length: () => length,
    push(entry) {
      length += 1;
      if (entry.share.waiting.push(entry) === 1) turns.push(entry.share);
    },
    next(most) {
      const share = turns.find(({ inFlight }) => inFlight < most) ?? turns[0];
      if (share === undefined) return undefined;
      const entry = take(share, 0);
      if (share.waiting.length > 0) {
        turns.splice(turns.indexOf(share), 1);
        turns.push(share);
      }
      return entry;
    },
    newest() {
      let longest = turns[0];
      if (longest === undefined) return undefined;
      // Of several equally long lists, the one that started last.
      for (const share of turns) if (share.waiting.length >= longest.waiting.length) longest = share;
      return take(longest, longest.waiting.length - 1);
    },
    overdue(nowMs) {
      const late = turns.flatMap(({ waiting }) => waiting.filter(({ untilMs }) => untilMs <= nowMs));
      for (const entry of late) take(entry.share, entry.share.waiting.indexOf(entry));
      return late;
    },
    remove(entry) {
      const at = entry.share.waiting.indexOf(entry);
      if (at === -1) return false;
      take(entry.share, at);
      return true;
    },
    firstUntilMs() {
      let first = Number.POSITIVE_INFINITY;
      for (const { waiting } of turns) for (const { untilMs } of waiting) first = Math.min(first, untilMs);
      return first;
    },
  };
}
