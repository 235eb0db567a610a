// Pure: nearly ordered requests → ordered ones. A log is written as exchanges end, but its requests are decided soon after they arrive.

import type { Recorded } from './recorded.ts';

/** At a thousand requests a second, one that took a minute finds its place. About 20 MB. */
const HELD_MAX = 65_536;

export interface InOrder {
  /** Takes one in, and gives the earliest one out once enough are held. */
  push(recorded: Recorded): Recorded | undefined;
  /** Gives the next one out; undefined when there are no more. */
  pop(): Recorded | undefined;
}

/** Ordered as they were decided. Within a millisecond those that were refused come last: they left no trace, and so go before nobody. */
export function createInOrder(heldMax = HELD_MAX): InOrder {
  // A binary heap: every item comes before the two at twice its index.
  const heap: Held[] = [];
  let pushed = 0;

  function pop(): Recorded | undefined {
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined) return undefined;
    if (heap.length > 0) sink(heap, last);
    return first.recorded;
  }

  return {
    push(recorded) {
      pushed += 1;
      rise(heap, { recorded, number: pushed });
      return heap.length > heldMax ? pop() : undefined;
    },
    pop,
  };
}

interface Held {
  readonly recorded: Recorded;
  /** Those decided together keep the order of the log. */
  readonly number: number;
}

function comesBefore(one: Held, other: Held): boolean {
  const { recorded: left } = one;
  const { recorded: right } = other;
  if (left.atMs !== right.atMs) return left.atMs < right.atMs;
  if (left.refused !== right.refused) return right.refused;
  return one.number < other.number;
}

/** Puts an item at the end and moves it up to its place. */
function rise(heap: Held[], item: Held): void {
  let index = heap.length;
  while (index > 0) {
    const above = (index - 1) >> 1;
    const parent = heap[above] as Held;
    if (!comesBefore(item, parent)) break;
    heap[index] = parent;
    index = above;
  }
  heap[index] = item;
}

/** Puts an item in place of the first and moves it down to its place. */
function sink(heap: Held[], item: Held): void {
  let index = 0;
  for (;;) {
    let below = 2 * index + 1;
    if (below >= heap.length) break;
    if (below + 1 < heap.length && comesBefore(heap[below + 1] as Held, heap[below] as Held)) below += 1;
    if (!comesBefore(heap[below] as Held, item)) break;
    heap[index] = heap[below] as Held;
    index = below;
  }
  heap[index] = item;
}
