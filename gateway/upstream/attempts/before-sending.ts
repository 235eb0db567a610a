// Runs work that comes before a request is sent, such as hashing its secrets. Stops the work at the deadline of the request, or when the
// client leaves. Throws upstream_timeout.

import { upstreamFailure } from '../../catalogue/upstream-failure.ts';
import type { Forwardable } from '../../exchange/exchange.ts';

/**
 * @param deadlineAt as `performance.now()` counts
 * @param work gets a signal. When the signal is aborted, the work stops at its next step and its result is discarded
 * @returns undefined if the client has disconnected; the trail then has status 499
 */
export async function beforeSending<T extends object | true>(
  { response, trail }: Pick<Forwardable, 'response' | 'trail'>,
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
    trail.clientLeft();
    abort.abort();
    resolve(undefined);
  }

  // This listener comes first, because the trail needs the status 499 before the listener that ends and logs the exchange runs.
  response.prependListener('close', leave);
  if (response.destroyed) leave();
  try {
    return await Promise.race([isOver, work(abort.signal)]);
  } finally {
    clearTimeout(timer);
    response.off('close', leave);
  }
}

/** Like `beforeSending`, for work without a result. Returns false if the client has disconnected. */
export async function waitBeforeSending(
  exchange: Pick<Forwardable, 'response' | 'trail'>,
  deadlineAt: number,
  work: (over: AbortSignal) => Promise<void>,
): Promise<boolean> {
  return (await beforeSending(exchange, deadlineAt, (over) => work(over).then(() => true as const))) === true;
}
