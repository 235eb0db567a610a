// The circuit breaker of an upstream. It opens when the share of failed attempts in the window is too large. After a wait it admits a few
// trial requests, and it closes when one of them is answered. A 500 is not counted as a failure, because a client whose request provokes it
// could otherwise block the upstream for all clients. A connection that is refused at once is not counted either, because the attempt costs
// little and the next attempt may succeed. The breaker needs constant work per request, and no timers.

import type { SendingFailure } from '../../catalogue/upstream-failure.ts';
import type { AttemptResult } from './attempt-result.ts';

export interface BreakerRules {
  /** Percentage of failures in the window that opens the breaker, 1–100. */
  readonly failurePercent: number;
  /** The minimum number of attempts in the window for the breaker to open. */
  readonly requestsMin: number;
  readonly windowSeconds: number;
  /** The longest time for which the breaker stays open. */
  readonly openSeconds: number;
}

export type BreakerState = 'closed' | 'open' | 'half_open';

interface BreakerOptions {
  /** Monotonic milliseconds. */
  clock(): number;
  /** @param cause the failure that opened the breaker */
  onChange(state: BreakerState, cause?: SendingFailure): void;
}

/** The first wait of an outage, as a part of `openSeconds`. */
const FIRST_WAIT_PART = 1 / 32;
/**
 * The factor between two waits. A wait lasts at most a third of the outage so far, so an upstream gets requests soon after it
 * recovers (docs/decisions/0041-upstreams-that-come-and-go.md).
 */
const WAIT_GROWTH = 1.5;
/**
 * A connection that is refused after more than this time is counted as a failure, because the attempt has occupied the gateway for that
 * time.
 */
const UNREACHED_MS_MAX = 1000;

/** Concurrent trial requests while half open. */
const TRIALS_MAX = 3;
/** The wait of a request that arrives while all trials are in progress. */
const TRIAL_WAIT_MS = 1000;

export class Breaker {
  readonly #options: BreakerOptions;
  readonly #window = new FailureWindow();
  #rules: BreakerRules | 'off';
  #state: BreakerState = 'closed';
  #openUntilMs = 0;
  #openedBy: SendingFailure | undefined;
  /** Number of trials in a row that have failed. */
  #failedTrials = 0;
  /** Number of trials in progress. */
  #trials = 0;

  constructor(rules: BreakerRules | 'off', options: BreakerOptions) {
    this.#rules = rules;
    this.#options = options;
  }

  /**
   * Returns 0 if the request may be sent; call `noteResult` when the request has ended. Otherwise returns the milliseconds until a request
   * may be sent.
   */
  admit(): number {
    if (this.#state === 'closed') return 0;
    if (this.#state === 'open') {
      const leftMs = this.#openUntilMs - this.#options.clock();
      if (leftMs > 0) return leftMs;
      this.#become('half_open');
    }
    if (this.#trials >= TRIALS_MAX) return TRIAL_WAIT_MS;
    this.#trials += 1;
    return 0;
  }

  /**
   * Call it when an attempt has ended.
   *
   * @param sentAtMs the time at which the attempt was sent, by `clock`
   * @param failure the cause, if the attempt failed
   */
  noteResult(result: AttemptResult, sentAtMs: number, failure?: SendingFailure): void {
    const rules = this.#rules;
    // An attempt that was sent before the end of the last wait says nothing new, because it belongs to the outage that opened the breaker.
    if (rules === 'off' || sentAtMs < this.#openUntilMs) return;
    const isCheap = result === 'unreached' && this.#options.clock() - sentAtMs < UNREACHED_MS_MAX;
    const hasFailed = result === 'failed' || (result === 'unreached' && !isCheap);
    if (this.#state === 'closed') {
      if (result !== 'abandoned' && !isCheap) this.#count(rules, hasFailed, failure);
    } else if (this.#state === 'half_open') {
      if (this.#trials > 0) this.#trials -= 1;
      if (hasFailed) this.#open(rules, this.#options.clock(), failure);
      else if (result !== 'abandoned') this.#become('closed');
    }
  }

  state(): BreakerState {
    return this.#state === 'open' && this.#options.clock() >= this.#openUntilMs ? 'half_open' : this.#state;
  }

  /** Returns the failure that opened the breaker last; undefined if it has never opened. */
  reason(): SendingFailure | undefined {
    return this.#openedBy;
  }

  /** Replaces the rules; `off` keeps the breaker closed. Changed rules start with an empty window. */
  use(rules: BreakerRules | 'off'): void {
    if (isSame(this.#rules, rules)) return;
    this.#rules = rules;
    this.#window.empty();
    if (rules !== 'off') return;
    this.#openUntilMs = 0;
    this.#become('closed');
  }

  #become(next: BreakerState, cause?: SendingFailure): void {
    if (next === this.#state) return;
    this.#state = next;
    this.#trials = 0;
    this.#options.onChange(next, cause);
  }

  #count(rules: BreakerRules, hasFailed: boolean, failure: SendingFailure | undefined): void {
    const nowMs = this.#options.clock();
    const window = this.#window;
    window.add(nowMs, rules.windowSeconds, hasFailed);
    const isTooMuch = window.sent >= rules.requestsMin && window.failed * 100 >= rules.failurePercent * window.sent;
    if (hasFailed && isTooMuch) this.#open(rules, nowMs, failure);
  }

  #open(rules: BreakerRules, nowMs: number, cause: SendingFailure | undefined): void {
    this.#failedTrials = this.#state === 'half_open' ? this.#failedTrials + 1 : 0;
    const part = Math.min(1, FIRST_WAIT_PART * WAIT_GROWTH ** this.#failedTrials);
    this.#openUntilMs = nowMs + rules.openSeconds * 1000 * part;
    this.#window.empty();
    this.#openedBy = cause;
    this.#become('open', cause);
  }
}

function isSame(some: BreakerRules | 'off', others: BreakerRules | 'off'): boolean {
  return JSON.stringify(some) === JSON.stringify(others);
}

/** The window advances by one slot at a time. */
const SLOTS = 10;

/** Counts how many attempts of the last seconds were sent, and how many failed, with constant work per attempt and no timers. */
class FailureWindow {
  /** The attempts in the window. */
  sent = 0;
  /** The attempts in the window that failed. */
  failed = 0;
  readonly #sentBySlot = new Array<number>(SLOTS).fill(0);
  readonly #failedBySlot = new Array<number>(SLOTS).fill(0);
  #slot = 0;

  add(nowMs: number, windowSeconds: number, hasFailed: boolean): void {
    this.#moveTo(Math.floor((nowMs * SLOTS) / (windowSeconds * 1000)));
    const at = this.#slot % SLOTS;
    this.#sentBySlot[at] = (this.#sentBySlot[at] as number) + 1;
    this.sent += 1;
    if (!hasFailed) return;
    this.#failedBySlot[at] = (this.#failedBySlot[at] as number) + 1;
    this.failed += 1;
  }

  empty(): void {
    this.#sentBySlot.fill(0);
    this.#failedBySlot.fill(0);
    this.sent = 0;
    this.failed = 0;
  }

  /** Removes the counts of slots that have left the window. */
  #moveTo(slot: number): void {
    for (let left = Math.min(SLOTS, slot - this.#slot); left > 0; left--) {
      const leaving = (slot - left + 1) % SLOTS;
      this.sent -= this.#sentBySlot[leaving] as number;
      this.failed -= this.#failedBySlot[leaving] as number;
      this.#sentBySlot[leaving] = 0;
      this.#failedBySlot[leaving] = 0;
    }
    this.#slot = slot;
  }
}
