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
    else void sendAfterWaiting(options, fresh, way, deadlineAt, dispatch).then(resolve, reject);
  });
}

async function sendAfterWaiting(
  options: SendingOptions,
  fresh: Fresh,
  way: Way,
  deadlineAt: number,
  dispatch: Dispatch,
): Promise<void> {
  const { caller, response, trail } = fresh;
  const since = performance.now();
  const place = await way.lane.wait(whoseShare(caller), (deadlineAt - since) * WAITING_PART, response).finally(() => {
    trail.queuedMs = performance.now() - since;
  });
  if (place === undefined) return;
  await new Promise<void>((resolve, reject) => {
    new Sending(options, fresh, way, place, deadlineAt, dispatch, resolve, reject);
  });
}

/** Whoever has no organization counts for themselves. */
function whoseShare({ organization, subject }: Caller): string {
  return organization === undefined ? subject : organization.id;
}
