// Timers for the deadlines of a peer. After a busy turn, the event loop runs timers before it reads sockets, and bytes that the peer has
// sent in time may wait there. A timer of this file therefore decides only after the sockets have been read. After a pause of the whole
// process, the request may not even have been sent.

import { contain } from './faults.ts';
import { REAL_MACHINE } from './machine.ts';

/** If a timer is later than this, in milliseconds, the whole process has paused. The peer then gets this time once more. */
export const STILL_MS = 50;

/**
 * Calls back when the sockets have been read. Call it when a timer expires. It does not keep the process alive.
 *
 * @param dueAt the time at which the timer should have expired, by `performance.now()`
 * @param callback gets the time before the sockets were read. Everything that was due at this time is overdue
 */
export function afterReading(
  dueAt: number,
  callback: (nowMs: number) => void,
  { performance, setTimeout, setImmediate } = REAL_MACHINE,
): void {
  const nowMs = performance.now();
  if (nowMs - dueAt > STILL_MS) setTimeout(() => setImmediate(callback, performance.now()), STILL_MS).unref();
  else setImmediate(callback, nowMs);
}

export interface Deadline {
  /** Restarts the time, because the peer made progress. */
  restart(): void;
  stop(): void;
}

/**
 * Starts a deadline.
 *
 * @param onOverdue called at most once for each start, at the end of the turn in which the timer expires, unless the sockets that are read
 *   in that turn restart or stop the deadline. An error that it throws is reported
 */
export function startDeadline(ms: number, onOverdue: () => void, machine = REAL_MACHINE): Deadline {
  const { performance, setTimeout, clearTimeout } = machine;
  let starts = 0;
  let dueAt = performance.now() + ms;
  const timer = setTimeout(expire, ms);

  function expire(): void {
    const expired = starts;
    const overdue = () => {
      if (expired === starts) contain(onOverdue);
    };
    afterReading(dueAt, overdue, machine);
  }

  return {
    restart() {
      starts += 1;
      dueAt = performance.now() + ms;
      timer.refresh();
    },
    stop() {
      starts += 1;
      clearTimeout(timer);
    },
  };
}

/**
 * Calls `check` at an interval, each time after the sockets have been read. An error that it throws is reported. The interval does not keep
 * the process alive.
 *
 * @returns a function that stops the checks
 */
export function checkEvery(ms: number, check: () => void): () => void {
  let isStopped = false;
  const timer = setInterval(() => setImmediate(checkNow), ms).unref();

  function checkNow(): void {
    if (!isStopped) contain(check);
  }

  return () => {
    isStopped = true;
    clearInterval(timer);
  };
}
