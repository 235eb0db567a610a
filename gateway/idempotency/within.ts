// Waits for the store with a bound.

import type { Awaitable } from '../exchange.ts';

/** Settles as `answer` does, or rejects after `ms` milliseconds. */
export function within<T>(ms: number, answer: Awaitable<T>): Awaitable<T> {
  if (!(answer instanceof Promise)) return answer;
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`no answer within ${ms} ms`));
    // If this process was busy, the reply may be waiting in the socket: the socket is read before setImmediate runs.
    const timer = setTimeout(() => setImmediate(late), ms);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
