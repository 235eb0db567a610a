// Work on a request before it is sent, such as hashing: it takes of the time of the request, and ends when the client leaves. Throws
// upstream_timeout.

import type { Fresh } from '../exchange.ts';
import { upstreamFailure } from './failure.ts';

/**
 * @param deadlineAt as `performance.now()` counts
 * @param work stops at its next step once the signal is aborted; its outcome is dropped from then on
 * @returns undefined: the client has left, and the trail says so
 */
export async function beforeSending<T extends object>(
  { response, trail }: Pick<Fresh, 'response' | 'trail'>,
  deadlineAt: number,
  work: (over: AbortSignal) => T | Promise<T>,
): Promise<T | undefined> {
  const { promise: isOver, resolve, reject } = Promise.withResolvers<undefined>();
  const abort = new AbortController();
  const timer = setTimeout(() => {
    abort.abort();
    reject(upstreamFailure('upstream_timeout', 'connection_timeout'));
  }, deadlineAt - performance.now());

  function leave(): void {
    // Unless it was refused meanwhile.
    if (trail.refusal === undefined) trail.status = 499;
    abort.abort();
    resolve(undefined);
  }

  // Before the listener that ends the exchange and has it logged.
  response.prependListener('close', leave);
  if (response.destroyed) leave();
  try {
    return await Promise.race([isOver, work(abort.signal)]);
  } finally {
    clearTimeout(timer);
    response.off('close', leave);
  }
}
