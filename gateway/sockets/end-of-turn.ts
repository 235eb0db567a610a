// Defers work until all sockets of this event-loop turn have been read, and then runs all of it.

import { contain, reportFault } from '../shared/faults.ts';

type Work = (subject: never) => void;
type Fallback = ((subject: never, thrown: unknown) => void) | undefined;

// Three parallel lists replace one list of objects, which would need an allocation for each exchange.
let works: Work[] = [];
let fallbacks: Fallback[] = [];
let subjects: unknown[] = [];

/**
 * Runs `work` at the end of the turn of the event loop, so that all answers of a turn are written together. An answer costs 7 µs of CPU if
 * it is written together with others, and 13 µs if it is written as soon as it is ready (measured through the gateway under load). The
 * difference is the wake-up of the receiver, which the kernel charges to the writer at each separate write.
 *
 * @param subject the argument of both functions, so that they can be functions of a module and no closure is made for each exchange
 * @param work if it throws, the error is reported and the other deferred work still runs
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
