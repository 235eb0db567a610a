// Limits concurrent requests to one upstream. A request that finds no free place waits in a fair queue, at most until its own deadline.
// Throws upstream_overloaded.

import { GatewayError } from '../../catalogue/errors.ts';
import { contain } from '../../shared/faults.ts';
import { FairQueue, type QueueEntry, queueEntry, type UpstreamLoad, type Waiter } from './fair-queue.ts';
import { createQueueBound, type QueueBoundRules } from './queue-bound.ts';

/** When more organizations than this are in memory, organizations without requests at the upstream are removed. */
const LOADS_MAX = 4096;
/** Upper bound for Retry-After. */
const RETRY_AFTER_SECONDS_MAX = 30;

const END_OF_CALLBACK = Promise.resolve();

export interface ConcurrencyRules extends QueueBoundRules {
  /** The largest share of the places for one organization while others wait. */
  readonly organizationShare: number;
}

/** Why a request got no place: the queue was too long, or the request waited until its limit. */
export type QueueRefusal = 'upstream_queue' | 'upstream_wait';

interface ConcurrencyLimitOptions {
  /** Returns the number of concurrent requests that are allowed. Called for each decision. */
  places(): number;
  /** Returns the rules for waiting. Called when a request has to wait. */
  rules(): ConcurrencyRules;
  /** Called when a request has got a place after waiting this long. */
  onWaited(waitedMs: number): void;
  onShed(why: QueueRefusal): void;
}

export class ConcurrencyLimit {
  readonly #options: ConcurrencyLimitOptions;
  readonly #loads = new Map<string, UpstreamLoad>();
  readonly #queue = new FairQueue();
  readonly #bound = createQueueBound();
  #inFlight = 0;
  #isAdmitting = false;
  #sweep: NodeJS.Timeout | undefined;
  #sweepAtMs = Number.POSITIVE_INFINITY;
  // These two functions are made once per limit. Without them, each release of a place would make a closure.
  readonly #admitWaiting = () => this.#admit();
  readonly #admitWaitingNow = () => {
    this.#isAdmitting = false;
    contain(this.#admitWaiting);
  };

  constructor(options: ConcurrencyLimitOptions) {
    this.#options = options;
  }

  /** Takes a place, which `giveBack` ends. Returns undefined if no place is free, or if other requests already wait for one. */
  take(organization: string): UpstreamLoad | undefined {
    // The number of places may have grown since the last request. The waiting requests get the new places first.
    if (this.waiting() > 0) this.#admit();
    const isFull = this.waiting() > 0 || this.#inFlight >= this.#options.places();
    return isFull ? undefined : this.#occupy(this.#loadOf(organization));
  }

  /**
   * Puts the waiter into the queue. Refuses it with upstream_overloaded if it has waited too long or if the queue is too long. The refusal
   * may come before `wait` returns.
   *
   * @param sinceMs `performance.now()`
   */
  wait(organization: string, withinMs: number, waiter: Waiter, sinceMs = performance.now()): QueueEntry {
    const entry = queueEntry(waiter, this.#loadOf(organization), sinceMs, sinceMs + withinMs);
    if (this.waiting() === 0) this.#bound.begin(sinceMs);
    this.#queue.push(entry);
    this.#sweepBy(entry.untilMs);
    this.#shorten(sinceMs);
    return entry;
  }

  /** Removes an entry from the queue, if it is still there. Does not call the waiter. */
  leaveQueue(entry: QueueEntry): void {
    this.#queue.remove(entry);
  }

  giveBack(load: UpstreamLoad): void {
    this.#inFlight -= 1;
    load.inFlight -= 1;
    if (this.waiting() === 0) return;
    this.#bound.depart();
    this.#admitSoon();
  }

  places(): number {
    return this.#options.places();
  }

  inFlight(): number {
    return this.#inFlight;
  }

  waiting(): number {
    return this.#queue.length();
  }

  #loadOf(organization: string): UpstreamLoad {
    const known = this.#loads.get(organization);
    if (known !== undefined) return known;
    if (this.#loads.size >= LOADS_MAX) this.#forgetIdle();
    const load = { organization, inFlight: 0, waiting: 0, oldest: undefined, newest: undefined };
    this.#loads.set(organization, load);
    return load;
  }

  #forgetIdle(): void {
    for (const [organization, { inFlight, waiting }] of this.#loads) {
      if (inFlight === 0 && waiting === 0) this.#loads.delete(organization);
    }
  }

  #occupy(load: UpstreamLoad): UpstreamLoad {
    this.#inFlight += 1;
    load.inFlight += 1;
    return load;
  }

  /** Gives free places to waiting requests. */
  #admit(): void {
    const { places, rules, onWaited } = this.#options;
    const number = places();
    if (this.#inFlight >= number) return;
    const shareMax = Math.max(1, Math.floor(number * rules().organizationShare));
    while (this.#inFlight < number) {
      const entry = this.#queue.next(shareMax);
      if (entry === undefined) return;
      const nowMs = performance.now();
      const waitedMs = nowMs - entry.sinceMs;
      this.#bound.measure(nowMs);
      onWaited(waitedMs);
      entry.waiter.gotPlace(this.#occupy(entry.load), waitedMs);
    }
  }

  /**
   * Admits waiting requests when the current callback has returned. The connection of the request that ended is free only then, so an
   * admission now would open another connection.
   */
  #admitSoon(): void {
    if (this.#isAdmitting) return;
    this.#isAdmitting = true;
    // This uses `then`, because `queueMicrotask` makes an AsyncResource at each call and costs 0.4 µs more.
    void END_OF_CALLBACK.then(this.#admitWaitingNow);
  }

  /**
   * Shortens a queue that is too long. Refuses the newest entry of the organization with the most entries, until the length is allowed,
   * because older entries have waited longest and are served next.
   */
  #shorten(nowMs: number): void {
    const { places, rules } = this.#options;
    const allowed = this.#bound.allowedLength(nowMs, places(), rules());
    while (this.waiting() > allowed) this.#shed(this.#queue.takeNewest() as QueueEntry, 'upstream_queue');
  }

  #shed(entry: QueueEntry, why: QueueRefusal): void {
    this.#options.onShed(why);
    entry.waiter.refused(overloadedError(why, this.#bound.waitMs(this.waiting())), performance.now() - entry.sinceMs);
  }

  /** Sets the timer that ends expired waits. One timer serves all entries, because most requests get a place before their deadline. */
  #sweepBy(untilMs: number): void {
    if (untilMs >= this.#sweepAtMs) return;
    clearTimeout(this.#sweep);
    this.#sweepAtMs = untilMs;
    this.#sweep = setTimeout(() => this.#sweepNow(), Math.ceil(untilMs - performance.now())).unref();
  }

  #sweepNow(): void {
    this.#sweepAtMs = Number.POSITIVE_INFINITY;
    for (const entry of this.#queue.takeOverdue(performance.now())) contain(() => this.#shed(entry, 'upstream_wait'));
    this.#sweepBy(this.#queue.firstUntilMs());
  }
}

/**
 * The causes of refusals, for the log and `explain`. They are made once, because a new error captures a stack, which is too expensive for
 * each refusal under overload.
 */
const CAUSES: Readonly<Record<QueueRefusal, Error>> = {
  upstream_queue: new Error(
    'upstream_queue: all places of the upstream (maxInFlight) are taken, and its queue is full',
  ),
  upstream_wait: new Error('upstream_wait: no place of the upstream (maxInFlight) was free in time'),
};

/** @param waitMs estimated time until all waiting requests have been served; undefined if unknown */
function overloadedError(why: QueueRefusal, waitMs: number | undefined): GatewayError {
  const headers = { 'Proxy-Status': 'api-gateway; error=connection_limit_reached' };
  const cause = CAUSES[why];
  if (waitMs === undefined) return new GatewayError('upstream_overloaded', { cause, headers });
  const seconds = Math.min(RETRY_AFTER_SECONDS_MAX, Math.max(1, Math.ceil(waitMs / 1000)));
  return new GatewayError('upstream_overloaded', { cause, headers, retryAfterSeconds: seconds });
}
