// Limits concurrent requests to one upstream. Other requests wait in a fair queue, each within its own deadline. Throws
// upstream_overloaded.

import { GatewayError } from '../../errors.ts';
import { contain } from '../../shared/faults.ts';
import { createFairQueue, type OrganizationShare, type QueueEntry, queueEntry, type Waiter } from './fair-queue.ts';
import { createQueueBound, type QueueBoundRules } from './queue-bound.ts';

/** Above this number of organizations, those without requests here are removed from memory. */
const SHARES_MAX = 4096;
/** Upper bound for Retry-After. */
const RETRY_AFTER_SECONDS_MAX = 30;

const endOfCallback = Promise.resolve();

export interface ConcurrencyRules extends QueueBoundRules {
  /** Largest share of the places for one organization while others wait. */
  readonly organizationShare: number;
}

/** Why a request got no place: the queue was too long, or the request waited until its limit. */
export type QueueRefusal = 'upstream_queue' | 'upstream_wait';

interface ConcurrencyLimitOptions {
  /** Number of concurrent requests that are allowed. It is read for each decision. */
  places(): number;
  /** The rules for waiting. They are read when a request has to wait. */
  rules(): ConcurrencyRules;
  /** Called when a request has got a place after waiting this long. */
  onWaited(waitedMs: number): void;
  onShed(why: QueueRefusal): void;
}

export interface ConcurrencyLimit {
  /** Takes a place, which `release` gives back. Returns undefined if no place is free, or if other requests wait for it. */
  enter(organization: string): OrganizationShare | undefined;
  /**
   * Waits for a place. Refuses the waiter with upstream_overloaded if that takes too long or the queue is too long; the refusal may come
   * synchronously.
   *
   * @param sinceMs `performance.now()`
   */
  wait(organization: string, withinMs: number, waiter: Waiter, sinceMs?: number): QueueEntry;
  /** Removes an entry from the queue, if it is still there. Does not call the waiter. */
  leaveQueue(entry: QueueEntry): void;
  release(share: OrganizationShare): void;
  inFlight(): number;
  waiting(): number;
}

export function createConcurrencyLimit({ places, rules, onWaited, onShed }: ConcurrencyLimitOptions): ConcurrencyLimit {
  const shares = new Map<string, OrganizationShare>();
  const queue = createFairQueue();
  const bound = createQueueBound();
  let inFlight = 0;
  let isAdmitting = false;
  let sweep: NodeJS.Timeout | undefined;
  let sweepAtMs = Number.POSITIVE_INFINITY;

  function shareOf(organization: string): OrganizationShare {
    const known = shares.get(organization);
    if (known !== undefined) return known;
    if (shares.size >= SHARES_MAX) forgetIdle();
    const share = { organization, inFlight: 0, waiting: 0, oldest: undefined, newest: undefined };
    shares.set(organization, share);
    return share;
  }

  function forgetIdle(): void {
    for (const [organization, { inFlight, waiting }] of shares) {
      if (inFlight === 0 && waiting === 0) shares.delete(organization);
    }
  }

  function take(share: OrganizationShare): OrganizationShare {
    inFlight += 1;
    share.inFlight += 1;
    return share;
  }

  function admitWaiting(): void {
    const number = places();
    if (inFlight >= number) return;
    const shareMax = Math.max(1, Math.floor(number * rules().organizationShare));
    while (inFlight < number) {
      const entry = queue.next(shareMax);
      if (entry === undefined) return;
      const nowMs = performance.now();
      const waitedMs = nowMs - entry.sinceMs;
      bound.measure(nowMs);
      onWaited(waitedMs);
      entry.waiter.entered(take(entry.share), waitedMs);
    }
  }

  function admitWaitingNow(): void {
    isAdmitting = false;
    contain(admitWaiting);
  }

  /** Admits waiting requests after the callbacks of this turn, because the connection of the request that ended is free only then. */
  function admitWaitingSoon(): void {
    if (isAdmitting) return;
    isAdmitting = true;
    // `queueMicrotask` makes an AsyncResource each time, which costs 0.4 µs more.
    void endOfCallback.then(admitWaitingNow);
  }

  /** Refuses the newest entries of the organization with the most entries, because the older ones are closest to being served. */
  function shorten(nowMs: number): void {
    const allowed = bound.allowed(nowMs, places(), rules());
    while (queue.length() > allowed) shed(queue.newest() as QueueEntry, 'upstream_queue');
  }

  function shed(entry: QueueEntry, why: QueueRefusal): void {
    onShed(why);
    entry.waiter.refused(overloaded(bound.waitMs(queue.length())), performance.now() - entry.sinceMs);
  }

  /** Sets the one timer for all entries: most deadlines are similar, and most requests get a place before theirs. */
  function sweepBy(untilMs: number): void {
    if (untilMs >= sweepAtMs) return;
    clearTimeout(sweep);
    sweepAtMs = untilMs;
    sweep = setTimeout(
      () => {
        sweepAtMs = Number.POSITIVE_INFINITY;
        for (const entry of queue.overdue(performance.now())) contain(() => shed(entry, 'upstream_wait'));
        sweepBy(queue.firstUntilMs());
      },
      Math.ceil(untilMs - performance.now()),
    ).unref();
  }

  return {
    enter(organization) {
      // The number of places may have grown since the last request. Waiting requests get them first.
      if (queue.length() > 0) admitWaiting();
      return queue.length() > 0 || inFlight >= places() ? undefined : take(shareOf(organization));
    },
    wait(organization, withinMs, waiter, sinceMs = performance.now()) {
      const entry = queueEntry(waiter, shareOf(organization), sinceMs, sinceMs + withinMs);
      if (queue.length() === 0) bound.begin(sinceMs);
      queue.push(entry);
      sweepBy(entry.untilMs);
      shorten(sinceMs);
      return entry;
    },
    leaveQueue: (entry) => void queue.remove(entry),
    release(share) {
      inFlight -= 1;
      share.inFlight -= 1;
      if (queue.length() === 0) return;
      bound.depart();
      admitWaitingSoon();
    },
    inFlight: () => inFlight,
    waiting: queue.length,
  };
}

/** @param waitMs until the queue has been worked off; undefined if unknown */
function overloaded(waitMs: number | undefined): GatewayError {
  const headers = { 'Proxy-Status': 'api-gateway; error=connection_limit_reached' };
  if (waitMs === undefined) return new GatewayError('upstream_overloaded', { headers });
  const seconds = Math.min(RETRY_AFTER_SECONDS_MAX, Math.max(1, Math.ceil(waitMs / 1000)));
  return new GatewayError('upstream_overloaded', { headers, retryAfterSeconds: seconds });
}
