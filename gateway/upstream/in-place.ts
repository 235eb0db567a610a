// Begins a sending as soon as there is a place for it at its upstream. Throws upstream_overloaded.

import type { Caller, Fresh } from '../exchange.ts';
import { type Dispatch, Sending, type SendingOptions } from './sending.ts';
import type { Way } from './ways.ts';

/** Of its time, a request may wait this much for a place: what is left has to do for an answer. */
const WAITING_PART = 0.9;

/**
 * Resolves when the exchange has ended, also when its client has left while it waited. Rejects with what the client is to be told.
 *
 * @param deadlineAt as `performance.now()` counts
 */
export function sendInPlace(
  options: SendingOptions,
  fresh: Fresh,
  way: Way,
  deadlineAt: number,
  dispatch: Dispatch,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const place = way.lane.enter(whoseShare(fresh.caller));
    if (place !== undefined) new Sending(options, fresh, way, place, deadlineAt, dispatch, resolve, reject);
    else sendAfterWaiting(options, fresh, way, deadlineAt, dispatch, resolve, reject);
  });
}

/** At full load most requests pass here, so that it makes no more promises than it has to. */
function sendAfterWaiting(
  options: SendingOptions,
  fresh: Fresh,
  way: Way,
  deadlineAt: number,
  dispatch: Dispatch,
  resolve: () => void,
  reject: (error: unknown) => void,
): void {
  const { caller, response, trail } = fresh;
  const since = performance.now();
  way.lane
    .wait(whoseShare(caller), (deadlineAt - since) * WAITING_PART, response)
    .then((place) => {
      trail.queuedMs = performance.now() - since;
      if (place === undefined) resolve();
      else new Sending(options, fresh, way, place, deadlineAt, dispatch, resolve, reject);
    })
    .catch((error: unknown) => {
      trail.queuedMs ??= performance.now() - since;
      reject(error);
    });
}

/** Whoever has no organization counts for themselves. */
function whoseShare({ organization, subject }: Caller): string {
  return organization === undefined ? subject : organization.id;
}
