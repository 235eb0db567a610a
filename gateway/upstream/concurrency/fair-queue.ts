// The queue of requests that wait for a place at one upstream. It has a list for each organization, and serves the lists in turn, so that a
// burst of one organization does not delay the others. The lists are linked lists. At full load, most requests wait and most lists have one
// entry, and an array for one entry costs 150 bytes.

import type { GatewayError } from '../../catalogue/errors.ts';

/** The requests of one organization at an upstream. */
export interface OrganizationShare {
  readonly organization: string;
  inFlight: number;
  /** Number of entries of the organization in the queue. */
  waiting: number;
  oldest: QueueEntry | undefined;
  newest: QueueEntry | undefined;
}

/** The request of an entry. */
export interface Waiter {
  /**
   * Called when the request has a place, which it must give back.
   *
   * @param waitedMs time in the queue
   */
  entered(share: OrganizationShare, waitedMs: number): void;
  refused(error: GatewayError, waitedMs: number): void;
}

/** An entry of the queue. Code that takes an entry out must serve or refuse it, and call `entered` or `refused` of its waiter. */
export interface QueueEntry {
  readonly waiter: Waiter;
  readonly share: OrganizationShare;
  /** `performance.now()` at its arrival, and at the end of its permitted wait. */
  readonly sinceMs: number;
  readonly untilMs: number;
  isQueued: boolean;
  older: QueueEntry | undefined;
  newer: QueueEntry | undefined;
}

export function queueEntry(waiter: Waiter, share: OrganizationShare, sinceMs: number, untilMs: number): QueueEntry {
  return { waiter, share, sinceMs, untilMs, isQueued: false, older: undefined, newer: undefined };
}

export class FairQueue {
  /** Organizations with entries, in the order of their turns. */
  readonly #turns: OrganizationShare[] = [];
  #length = 0;

  length(): number {
    return this.#length;
  }

  push(entry: QueueEntry): void {
    this.#length += 1;
    link(entry);
    if (entry.share.waiting === 1) this.#turns.push(entry.share);
  }

  /**
   * Removes and returns the oldest entry of the next organization that has fewer than `most` requests in flight. If there is no such
   * organization, takes the oldest entry of the next organization.
   */
  next(most: number): QueueEntry | undefined {
    const share = this.#turnOf(most);
    if (share === undefined) return undefined;
    const entry = this.#take(share.oldest as QueueEntry);
    if (share.waiting > 0) {
      this.#leaveTurns(share);
      this.#turns.push(share);
    }
    return entry;
  }

  /** Removes and returns the newest entry of the organization with the most entries. */
  takeNewest(): QueueEntry | undefined {
    let longest = this.#turns[0];
    if (longest === undefined) return undefined;
    // If several organizations have equally many entries, the organization whose turn comes last loses its entry.
    for (const share of this.#turns) if (share.waiting >= longest.waiting) longest = share;
    return this.#take(longest.newest as QueueEntry);
  }

  /** Removes and returns all entries whose wait has expired. */
  takeOverdue(nowMs: number): QueueEntry[] {
    const late = this.#turns.flatMap((share) => [...entriesOf(share)].filter(({ untilMs }) => untilMs <= nowMs));
    for (const entry of late) this.#take(entry);
    return late;
  }

  /** Returns false if the entry was already removed. */
  remove(entry: QueueEntry): boolean {
    if (!entry.isQueued) return false;
    this.#take(entry);
    return true;
  }

  /** The earliest end of a wait; Infinity if the queue is empty. */
  firstUntilMs(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const share of this.#turns) for (const { untilMs } of entriesOf(share)) first = Math.min(first, untilMs);
    return first;
  }

  #take(entry: QueueEntry): QueueEntry {
    const { share } = entry;
    this.#length -= 1;
    unlink(entry);
    if (share.waiting === 0) this.#leaveTurns(share);
    return entry;
  }

  #leaveTurns(share: OrganizationShare): void {
    // The usual case uses `shift`, because `splice` allocates an array for the removed element.
    if (this.#turns[0] === share) this.#turns.shift();
    else this.#turns.splice(this.#turns.indexOf(share), 1);
  }

  #turnOf(most: number): OrganizationShare | undefined {
    // The loop uses an index, because the iterator of `for of` costs 80 bytes per request until V8 optimizes the function.
    for (let index = 0; index < this.#turns.length; index += 1) {
      const share = this.#turns[index] as OrganizationShare;
      if (share.inFlight < most) return share;
    }
    return this.#turns[0];
  }
}

/** Yields the entries of an organization, oldest first. */
function* entriesOf({ oldest }: OrganizationShare): Generator<QueueEntry> {
  for (let entry = oldest; entry !== undefined; entry = entry.newer) yield entry;
}

function link(entry: QueueEntry): void {
  const { share } = entry;
  const before = share.newest;
  entry.older = before;
  if (before === undefined) share.oldest = entry;
  else before.newer = entry;
  share.newest = entry;
  share.waiting += 1;
  entry.isQueued = true;
}

function unlink(entry: QueueEntry): void {
  const { share, older, newer } = entry;
  if (older === undefined) share.oldest = newer;
  else older.newer = newer;
  if (newer === undefined) share.newest = older;
  else newer.older = older;
  // The links of the removed entry are cleared, because they would keep other entries in memory.
  entry.older = undefined;
  entry.newer = undefined;
  share.waiting -= 1;
  entry.isQueued = false;
}
