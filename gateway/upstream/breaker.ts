// The circuit breaker of an upstream: when too large a share of what it was sent lately has failed, it is sent nothing for a while, then a
// few requests, and everything again once one of them is answered. That it errs does not count: a caller who knows a request that makes it
// err must not stop everybody else's. Constant work per request, no timers.

import type { SendingFailure } from './failure-text.ts';
import type { AttemptOutcome } from './outcome.ts';

export interface BreakerRules {
  /** Share of failures within the window that opens it, 1–100. */
  readonly failurePercent: number;
  /** Fewer requests within the window say nothing. */
  readonly requestsMin: number;
  readonly windowSeconds: number;
  /** How long nothing is sent. */
  readonly openSeconds: number;
}

export type BreakerState = 'closed' | 'open' | 'half_open';

export interface Breaker {
  /** How long to wait, in milliseconds; 0: this request may be sent, and its end has to be told. */
  admit(): number;
  /**
   * @param sentAtMs when it was sent, as `clock` counts
   * @param failure what a request that failed met
   */
  ended(outcome: AttemptOutcome, sentAtMs: number, failure?: SendingFailure): void;
  state(): BreakerState;
  /** From now on by these rules; `off`: it stays closed. Other rules begin with an empty window. */
  use(rules: BreakerRules | 'off'): void;
}

export interface BreakerOptions {
  /** Milliseconds that only ever grow. */
  clock(): number;
  /** @param cause the failure that opened it */
  onChange(state: BreakerState, cause?: SendingFailure): void;
}

/** The window moves on by a tenth of its length. */
const SLOTS = 10;
/** Requests at once that try whether the upstream is back. */
const TRIALS_MAX = 3;
/** What a request has to wait that finds all trials under way. */
const TRIAL_WAIT_MS = 1000;

export function createBreaker(first: BreakerRules | 'off', { clock, onChange }: BreakerOptions): Breaker {
  let rules = first;
  let standing: BreakerState = 'closed';
  let openUntilMs = 0;
  let trials = 0;
  const sent = new Array<number>(SLOTS).fill(0);
  const failed = new Array<number>(SLOTS).fill(0);
  let sentInWindow = 0;
  let failedInWindow = 0;
  let slot = 0;

  function empty(): void {
    sent.fill(0);
    failed.fill(0);
    sentInWindow = 0;
    failedInWindow = 0;
  }

  function become(next: BreakerState, cause?: SendingFailure): void {
    if (next === standing) return;
    standing = next;
    trials = 0;
    onChange(next, cause);
  }

  /** Forgets what has left the window. */
  function moveTo(now: number): void {
    for (let left = Math.min(SLOTS, now - slot); left > 0; left--) {
      const leaving = (now - left + 1) % SLOTS;
      sentInWindow -= sent[leaving] as number;
      failedInWindow -= failed[leaving] as number;
      sent[leaving] = 0;
      failed[leaving] = 0;
    }
    slot = now;
  }

  function count(by: BreakerRules, hasFailed: boolean, failure: SendingFailure | undefined): void {
    const nowMs = clock();
    const now = Math.floor((nowMs * SLOTS) / (by.windowSeconds * 1000));
    if (now !== slot) moveTo(now);
    const at = slot % SLOTS;
    sent[at] = (sent[at] as number) + 1;
    sentInWindow += 1;
    if (!hasFailed) return;
    failed[at] = (failed[at] as number) + 1;
    failedInWindow += 1;
    if (sentInWindow >= by.requestsMin && failedInWindow * 100 >= by.failurePercent * sentInWindow)
      open(by, nowMs, failure);
  }

  function open(by: BreakerRules, nowMs: number, cause: SendingFailure | undefined): void {
    openUntilMs = nowMs + by.openSeconds * 1000;
    empty();
    become('open', cause);
  }

  return {
    admit() {
      if (standing === 'closed') return 0;
      if (standing === 'open') {
        const leftMs = openUntilMs - clock();
        if (leftMs > 0) return leftMs;
        become('half_open');
      }
      if (trials >= TRIALS_MAX) return TRIAL_WAIT_MS;
      trials += 1;
      return 0;
    },
    ended(outcome, sentAtMs, failure) {
      // What was sent before it opened has been judged by that, whenever it ends.
      if (rules === 'off' || sentAtMs < openUntilMs) return;
      if (standing === 'closed') {
        if (outcome !== 'abandoned') count(rules, outcome === 'failed', failure);
      } else if (standing === 'half_open') {
        if (trials > 0) trials -= 1;
        if (outcome === 'failed') open(rules, clock(), failure);
        else if (outcome !== 'abandoned') become('closed');
      }
    },
    state: () => (standing === 'open' && clock() >= openUntilMs ? 'half_open' : standing),
    use(next) {
      if (isSame(rules, next)) return;
      rules = next;
      empty();
      if (next !== 'off') return;
      openUntilMs = 0;
      become('closed');
    },
  };
}

function isSame(some: BreakerRules | 'off', others: BreakerRules | 'off'): boolean {
  return JSON.stringify(some) === JSON.stringify(others);
}
