// Waiting for the store, but not for long.

import type { Awaitable } from '../exchange.ts';

/** What a store answers, or a rejection once `ms` have passed without an answer. */
export function within<T>(ms: number, answer: Awaitable<T>): Awaitable<T> {
  if (!(answer instanceof Promise)) return answer;
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`no answer within ${ms} ms`));
    // If this process was busy itself, the answer may be waiting in the socket: that is read before setImmediate runs.
    const timer = setTimeout(() => setImmediate(late), ms);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
