// Defers work until all sockets of this event-loop turn have been read, and then runs all of it.

import { contain } from '../shared/faults.ts';

type Fallback = ((thrown: unknown) => void) | undefined;

// Two lists of functions, because a list of objects would cost each exchange two allocations.
let kept: (() => void)[] = [];
let fallbacks: Fallback[] = [];

/**
 * Runs `work` at the end of the turn. To write answers together costs less than to write each one as soon as it is there: 7 µs of CPU per
 * answer instead of 13, measured through the gateway under load. A separate write wakes a receiver that has just gone to sleep, and the
 * kernel charges the wake-up to the writer. Work waits at most for the rest of the turn.
 *
 * @param work an error it throws is reported, and the other deferred work still runs
 * @param otherwise called after such an error, to end the exchange
 */
export function atEndOfTurn(work: () => void, otherwise?: (thrown: unknown) => void): void {
  fallbacks.push(otherwise);
  if (kept.push(work) === 1) setImmediate(doAll);
}

function doAll(): void {
  const works = kept;
  const otherwise = fallbacks;
  kept = [];
  fallbacks = [];
  for (let index = 0; index < works.length; index += 1) contain(works[index] as () => void, otherwise[index]);
}
