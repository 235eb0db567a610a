// How many requests an upstream is sent at once: the rest wait in line, each within its own deadline, organizations in turn. Throws
// upstream_overloaded.

import { GatewayError } from '../errors.ts';
import { createFairQueue, type OrganizationShare, type QueueEntry, type Waiter } from './fair-queue.ts';
import { createQueueBound, type QueueBoundRules } from './queue-bound.ts';

/** With more organizations than this, those that have nothing here are forgotten. */
const SHARES_MAX = 4096;
/** Who is told to come again later than this would not believe it. */
const RETRY_AFTER_SECONDS_MAX = 30;

export interface ConcurrencyRules extends QueueBoundRules {
  /** The part of the places that one organization has at most, while others wait. */
  readonly organizationShare: number;
}

/** Why a request did not get a place: too many waited, or it had waited for as long as it could. */
export type QueueRefusal = 'upstream_queue' | 'upstream_wait';

export interface ConcurrencyLimitOptions {
  /** Requests at once; asked anew at each decision. */
  places(): number;
  /** Asked where somebody has to wait. */
  rules(): ConcurrencyRules;
  /** Somebody was let in after so many milliseconds in line. */
  onWaited(waitedMs: number): void;
  onShed(why: QueueRefusal): void;
}

export interface ConcurrencyLimit {
  /** Takes a place, to be given back by `leave`; undefined: there is none, or others wait for it. */
  enter(organization: string): OrganizationShare | undefined;
  /** Waits for a place. The guest is refused with upstream_overloaded when that takes too long, or when more wait than should: maybe at once. */
  wait(organization: string, withinMs: number, guest: Waiter): QueueEntry;
  /** It waits no more, if it still did. Nobody is told. */
  leaveLine(waiter: QueueEntry): void;
  leave(share: OrganizationShare): void;
  inFlight(): number;
  waiting(): number;
}

export function createConcurrencyLimit({ places, rules, onWaited, onShed }: ConcurrencyLimitOptions): ConcurrencyLimit {
  const shares = new Map<string, OrganizationShare>();
  const line = createFairQueue();
  const backlog = createQueueBound();
  let inFlight = 0;
  let isAdmitting = false;
  let sweep: NodeJS.Timeout | undefined;
  let sweepAtMs = Number.POSITIVE_INFINITY;

  function shareOf(organization: string): OrganizationShare {
    const known = shares.get(organization);
    if (known !== undefined) return known;
    if (shares.size >= SHARES_MAX) forgetIdle();
    const share = { organization, inFlight: 0, waiting: [] };
    shares.set(organization, share);
    return share;
  }

  function forgetIdle(): void {
    for (const [organization, { inFlight, waiting }] of shares) {
      if (inFlight === 0 && waiting.length === 0) shares.delete(organization);
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
    const most = Math.max(1, Math.floor(number * rules().organizationShare));
    while (inFlight < number) {
      const waiter = line.next(most);
      if (waiter === undefined) return;
      const waitedMs = performance.now() - waiter.sinceMs;
      onWaited(waitedMs);
      waiter.guest.entered(take(waiter.share), waitedMs);
    }
  }

  /** Once everything that comes with what just ended is done: then its connection is free, too. */
  function admitWaitingSoon(): void {
    if (isAdmitting) return;
    isAdmitting = true;
    queueMicrotask(() => {
      isAdmitting = false;
      admitWaiting();
    });
  }

  /** From the newest of whoever has the most: what waits already is nearest to being served. */
  function shorten(nowMs: number): void {
    const allowed = backlog.allowed(nowMs, places(), rules());
    while (line.length() > allowed) shed(line.newest() as QueueEntry, 'upstream_queue');
  }

  function shed(waiter: QueueEntry, why: QueueRefusal): void {
    onShed(why);
    waiter.guest.refused(overloaded(backlog.waitMs(line.length())), performance.now() - waiter.sinceMs);
  }

  /** One timer for all: most deadlines are equally far away, and most requests are let in before theirs. */
  function sweepBy(untilMs: number): void {
    if (untilMs >= sweepAtMs) return;
    clearTimeout(sweep);
    sweepAtMs = untilMs;
    sweep = setTimeout(
      () => {
        sweepAtMs = Number.POSITIVE_INFINITY;
        for (const waiter of line.overdue(performance.now())) shed(waiter, 'upstream_wait');
        sweepBy(line.firstUntilMs());
      },
      Math.ceil(untilMs - performance.now()),
    ).unref();
  }

  return {
    enter(organization) {
      // There may be more places than when somebody last came or went: they belong to those who wait, and what is left is free.
      if (line.length() > 0) admitWaiting();
      return line.length() > 0 || inFlight >= places() ? undefined : take(shareOf(organization));
    },
    wait(organization, withinMs, guest) {
      const sinceMs = performance.now();
      const waiter = { guest, share: shareOf(organization), sinceMs, untilMs: sinceMs + withinMs };
      if (line.length() === 0) backlog.begin(sinceMs);
      line.push(waiter);
      sweepBy(waiter.untilMs);
      shorten(sinceMs);
      return waiter;
    },
    leaveLine: (waiter) => void line.remove(waiter),
    leave(share) {
      inFlight -= 1;
      share.inFlight -= 1;
      if (line.length() === 0) return;
      backlog.depart(performance.now());
      admitWaitingSoon();
    },
    inFlight: () => inFlight,
    waiting: line.length,
  };
}

/** @param waitMs until those who wait have been served; undefined: nobody knows */
function overloaded(waitMs: number | undefined): GatewayError {
  const headers = { 'Proxy-Status': 'api-gateway; error=connection_limit_reached' };
  if (waitMs === undefined) return new GatewayError('upstream_overloaded', { headers });
  const seconds = Math.min(RETRY_AFTER_SECONDS_MAX, Math.max(1, Math.ceil(waitMs / 1000)));
  return new GatewayError('upstream_overloaded', { headers, retryAfterSeconds: seconds });
}
