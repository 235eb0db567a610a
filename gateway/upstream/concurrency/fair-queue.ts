// The queue of requests that wait for a place at one upstream. It has a list for each organization, and serves the lists in turn, so that a
// burst of one organization does not delay the others. The lists are linked lists. At full load, most requests wait and most lists have one
// entry, and an array for one entry costs 150 bytes.

import type { GatewayError } from '../../catalogue/errors.ts';

/** The requests of one organization at an upstream. */
export interface UpstreamLoad {
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
  gotPlace(load: UpstreamLoad, waitedMs: number): void;
  refused(error: GatewayError, waitedMs: number): void;
}

/** An entry of the queue. Code that takes an entry out must serve or refuse it, and call `gotPlace` or `refused` of its waiter. */
export interface QueueEntry {
  readonly waiter: Waiter;
  readonly load: UpstreamLoad;
  /** `performance.now()` at its arrival, and at the end of its permitted wait. */
  readonly sinceMs: number;
  readonly untilMs: number;
  isQueued: boolean;
  older: QueueEntry | undefined;
  newer: QueueEntry | undefined;
}

export function queueEntry(waiter: Waiter, load: UpstreamLoad, sinceMs: number, untilMs: number): QueueEntry {
  return { waiter, load, sinceMs, untilMs, isQueued: false, older: undefined, newer: undefined };
}

export class FairQueue {
  /** Organizations with entries, in the order of their turns. */
  readonly #turns: UpstreamLoad[] = [];
  #length = 0;

  length(): number {
    return this.#length;
  }

  push(entry: QueueEntry): void {
    this.#length += 1;
    link(entry);
    if (entry.load.waiting === 1) this.#turns.push(entry.load);
  }

  /**
   * Removes and returns the oldest entry of the next organization that has fewer than `most` requests in progress. If there is no such
   * organization, takes the oldest entry of the next organization.
   */
  next(most: number): QueueEntry | undefined {
    const load = this.#turnOf(most);
    if (load === undefined) return undefined;
    const entry = this.#take(load.oldest as QueueEntry);
    if (load.waiting > 0) {
      this.#leaveTurns(load);
      this.#turns.push(load);
    }
    return entry;
  }

  /** Removes and returns the newest entry of the organization with the most entries. */
  takeNewest(): QueueEntry | undefined {
    let longest = this.#turns[0];
    if (longest === undefined) return undefined;
    // If several organizations have equally many entries, the organization whose turn comes last loses its entry.
    for (const load of this.#turns) if (load.waiting >= longest.waiting) longest = load;
    return this.#take(longest.newest as QueueEntry);
  }

  /** Removes and returns all entries whose wait has expired. */
  takeOverdue(nowMs: number): QueueEntry[] {
    const late = this.#turns.flatMap((load) => [...entriesOf(load)].filter(({ untilMs }) => untilMs <= nowMs));
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
    for (const load of this.#turns) for (const { untilMs } of entriesOf(load)) first = Math.min(first, untilMs);
    return first;
  }

  #take(entry: QueueEntry): QueueEntry {
    const { load } = entry;
    this.#length -= 1;
    unlink(entry);
    if (load.waiting === 0) this.#leaveTurns(load);
    return entry;
  }

  #leaveTurns(load: UpstreamLoad): void {
    // The usual case uses `shift`, because `splice` allocates an array for the removed element.
    if (this.#turns[0] === load) this.#turns.shift();
    else this.#turns.splice(this.#turns.indexOf(load), 1);
  }

  #turnOf(most: number): UpstreamLoad | undefined {
    // The loop uses an index, because the iterator of `for of` costs 80 bytes per request until V8 optimizes the function.
    for (let index = 0; index < this.#turns.length; index += 1) {
      const load = this.#turns[index] as UpstreamLoad;
      if (load.inFlight < most) return load;
    }
    return this.#turns[0];
  }
}

/** Yields the entries of an organization, oldest first. */
function* entriesOf({ oldest }: UpstreamLoad): Generator<QueueEntry> {
  for (let entry = oldest; entry !== undefined; entry = entry.newer) yield entry;
}

function link(entry: QueueEntry): void {
  const { load } = entry;
  const before = load.newest;
  entry.older = before;
  if (before === undefined) load.oldest = entry;
  else before.newer = entry;
  load.newest = entry;
  load.waiting += 1;
  entry.isQueued = true;
}

function unlink(entry: QueueEntry): void {
  const { load, older, newer } = entry;
  if (older === undefined) load.oldest = newer;
  else older.newer = newer;
  if (newer === undefined) load.newest = older;
  else newer.older = older;
  // The links of the removed entry are cleared, because they would keep other entries in memory.
  entry.older = undefined;
  entry.newer = undefined;
  load.waiting -= 1;
  entry.isQueued = false;
}
