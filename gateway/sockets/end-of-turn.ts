// Defers work until all sockets of this event-loop turn have been read, and then runs all of it.

import { contain, reportFault } from '../shared/faults.ts';

type Work = (subject: never) => void;
type Fallback = ((subject: never, thrown: unknown) => void) | undefined;

// Three lists, because a list of objects would cost each exchange an allocation.
let works: Work[] = [];
let fallbacks: Fallback[] = [];
let subjects: unknown[] = [];

/**
 * Runs `work` at the end of the turn. To write answers together costs less than to write each one as soon as it is there: 7 µs of CPU per
 * answer instead of 13, measured through the gateway under load. A separate write wakes a receiver that has just gone to sleep, and the
 * kernel charges the wake-up to the writer. Work waits at most for the rest of the turn.
 *
 * @param subject the argument of both functions: with functions of a module, an exchange needs no closures
 * @param work an error it throws is reported, and the other deferred work still runs
 * @param otherwise called after such an error, to end the exchange
 */
export function atEndOfTurn<T>(
  subject: T,
  work: (subject: T) => void,
  otherwise?: (subject: T, thrown: unknown) => void,
): void {
  fallbacks.push(otherwise);
  subjects.push(subject);
  if (works.push(work) === 1) setImmediate(doAll);
}

function doAll(): void {
  const [allWorks, allFallbacks, allSubjects] = [works, fallbacks, subjects];
  works = [];
  fallbacks = [];
  subjects = [];
  for (let index = 0; index < allWorks.length; index += 1) {
    const subject = allSubjects[index] as never;
    try {
      allWorks[index]?.(subject);
    } catch (thrown) {
      reportFault(thrown);
      contain(() => allFallbacks[index]?.(subject, thrown));
    }
  }
}
