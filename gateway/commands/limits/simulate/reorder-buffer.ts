// Pure: sorts nearly ordered requests. A log is written when exchanges end, but limits are decided soon after requests arrive.

import type { LoggedRequest } from './logged-request.ts';

/**
 * Maximum number of requests in the buffer, about 20 MB. This is enough to sort a request that took a minute, at a thousand requests per
 * second.
 */
const BUFFERED_MAX = 65_536;

interface ReorderBuffer {
  /** Adds a request, and returns the earliest request once the buffer is full. */
  push(recorded: LoggedRequest): LoggedRequest | undefined;
  /** Returns the next request; undefined when the buffer is empty. */
  pop(): LoggedRequest | undefined;
}

/**
 * Orders requests by the time of their decision. Within a millisecond, refused requests come last, because they changed no counter, and no
 * other request depends on them.
 */
export function createReorderBuffer(bufferedMax = BUFFERED_MAX): ReorderBuffer {
  // A binary heap, in which every item comes before the two items at twice its index.
  const heap: BufferedRequest[] = [];
  let pushed = 0;

  function pop(): LoggedRequest | undefined {
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
      return heap.length > bufferedMax ? pop() : undefined;
    },
    pop,
  };
}

interface BufferedRequest {
  readonly recorded: LoggedRequest;
  /** Position in the log, which orders requests that were decided in the same millisecond. */
  readonly number: number;
}

function comesBefore(one: BufferedRequest, other: BufferedRequest): boolean {
  const { recorded: left } = one;
  const { recorded: right } = other;
  if (left.atMs !== right.atMs) return left.atMs < right.atMs;
  if (left.refused !== right.refused) return right.refused;
  return one.number < other.number;
}

/** Appends an item and moves it up to its position. */
function rise(heap: BufferedRequest[], item: BufferedRequest): void {
  let index = heap.length;
  while (index > 0) {
    const above = (index - 1) >> 1;
    const parent = heap[above] as BufferedRequest;
    if (!comesBefore(item, parent)) break;
    heap[index] = parent;
    index = above;
  }
  heap[index] = item;
}

/** Replaces the first item and moves the new one down to its position. */
function sink(heap: BufferedRequest[], item: BufferedRequest): void {
  let index = 0;
  for (;;) {
    let below = 2 * index + 1;
    if (below >= heap.length) break;
    if (below + 1 < heap.length && comesBefore(heap[below + 1] as BufferedRequest, heap[below] as BufferedRequest))
      below += 1;
    if (!comesBefore(heap[below] as BufferedRequest, item)) break;
    heap[index] = heap[below] as BufferedRequest;
    index = below;
  }
  heap[index] = item;
}
