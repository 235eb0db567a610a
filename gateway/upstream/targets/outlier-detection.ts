// Outlier detection for one target: outstanding requests, consecutive failures, ejection and return. All times are as `clock` counts.

import type { SendingFailure } from '../../catalogue/upstream-failure.ts';
import type { AttemptResult } from './attempt-result.ts';

export interface EjectionRules {
  /** Failures in a row that eject a target. */
  readonly failures: number;
  /** The duration of the first ejection. The duration doubles with each ejection. */
  readonly baseSeconds: number;
  readonly maxSeconds: number;
  /** The largest percentage of an upstream's targets that may be ejected, 1–100. With several targets, one may always be ejected. */
  readonly percentMax: number;
  /** Time in which a returned target ramps up to its full share. */
  readonly slowStartSeconds: number;
}

/** `in`: normal. `ejected`: gets no requests. `trial`: gets one request at a time. `returning`: gets a growing share. */
type OutlierPhase = 'in' | 'ejected' | 'trial' | 'returning';

/**
 * The change of state after an attempt; undefined if there is none. `failing` and `healthy` are about a target that stays in use.
 */
type OutlierChange = 'ejected' | 'returning' | 'failing' | 'healthy' | undefined;

/** The upstream of a target. */
export interface EjectionScope {
  readonly rules: { readonly ejection: EjectionRules | 'off' };
  /** All targets of the upstream. Only a part of them may be ejected. */
  readonly targetStates: readonly TargetState[];
  /** Monotonic milliseconds. */
  clock(): number;
}

/** The least credit that a returning target earns per choice. */
const SHARE_MIN = 0.1;
/** Failures in a row after which a target without ejection rules is reported as failing. */
const FAILURES_WITHOUT_RULES = 5;

/**
 * The ranks of targets for a choice; the lowest rank is chosen. `held` is a returning target without enough credit for a request.
 * `unreached` is an ejected or unhealthy target that could not be reached. An attempt at it costs little, so it is chosen before a target
 * to which this request was already sent.
 *
 * `tried` is added to the rank of a target to which this request was already sent. Each sum differs from every other rank and sum. A target
 * that is `out` comes after all others.
 */
export const SELECTION_RANK = { free: 0, held: 1, unreached: 2, tried: 3, out: 6 } as const;

export class TargetState {
  readonly address: string;
  /** Requests in progress. */
  outstanding = 0;
  /** Trial requests in progress. */
  trials = 0;
  /** When the latest answered request was sent. */
  answeredAtMs = Number.NEGATIVE_INFINITY;
  failuresInRow = 0;
  /** When the first of these failures ended. Meaningless if `failuresInRow` is 0. */
  failingSinceMs = 0;
  /** The latest of these failures. */
  lastFailure: SendingFailure | undefined;
  /** When the ejection or the return ends. */
  untilMs = 0;
  /** The verdict of the health checks; true without checks. */
  healthy = true;
  /** Whether the target could not be reached at the latest failure. */
  #wasUnreached = false;
  #phase: OutlierPhase = 'in';
  /** Consecutive ejections. */
  #ejections = 0;
  /** The end of the last ejection. The end of an attempt that was sent before this time is ignored. */
  #judgedUntilMs = 0;
  /** When the target was last found to work again. */
  #returnedAtMs = Number.NEGATIVE_INFINITY;
  /** Credit of a returning target; 1 buys one request. */
  #credit = 0;

  constructor(address: string) {
    this.address = address;
  }

  /** Returns the current phase. Ejection and return end by time. */
  phaseAt(nowMs: number): OutlierPhase {
    const phase = this.#phase;
    if (nowMs < this.untilMs) return phase;
    if (phase === 'ejected') return 'trial';
    return phase === 'returning' ? 'in' : phase;
  }

  /** Whether requests to the target keep failing, even if the target cannot be ejected. */
  isFailing(rules: EjectionRules | 'off'): boolean {
    return this.failuresInRow >= failuresOf(rules);
  }

  /** Adds credit to a returning target, and returns the rank of the target for one choice. */
  creditAndRank(rules: EjectionRules | 'off', nowMs: number): number {
    const out = this.#wasUnreached ? SELECTION_RANK.unreached : SELECTION_RANK.out;
    if (!this.healthy) return out;
    if (rules === 'off' || this.#phase === 'in') return SELECTION_RANK.free;
    this.#phase = this.phaseAt(nowMs);
    if (this.#phase === 'ejected') return out;
    if (this.#phase === 'trial') return this.trials === 0 ? SELECTION_RANK.free : out;
    if (this.#phase === 'in') return SELECTION_RANK.free;
    const share = (nowMs - this.#returnedAtMs) / (rules.slowStartSeconds * 1000);
    this.#credit = Math.min(1, this.#credit + Math.max(SHARE_MIN, share));
    return this.#credit >= 1 ? SELECTION_RANK.free : SELECTION_RANK.held;
  }

  /** Call it when a request is sent to the target. */
  noteBegan(): void {
    this.outstanding += 1;
    if (this.#phase === 'trial') this.trials += 1;
    else if (this.#phase === 'returning') this.#credit = Math.max(0, this.#credit - 1);
  }

  /**
   * Call it when a request to the target has ended. Returns the change that this caused.
   *
   * @param failure cause, if the attempt failed or erred
   */
  noteEnded(upstream: EjectionScope, result: AttemptResult, sentAtMs: number, failure?: SendingFailure): OutlierChange {
    this.outstanding -= 1;
    if (sentAtMs < this.#judgedUntilMs) return undefined;
    if (this.#phase === 'trial' && this.trials > 0) this.trials -= 1;
    if (result === 'abandoned') return undefined;
    if (result === 'answered') return this.#noteAnswered(upstream, sentAtMs);
    const nowMs = upstream.clock();
    this.#noteFailed(result, nowMs, failure);
    return this.#ejectIfDue(upstream, nowMs);
  }

  /** Call it when the verdict of the health checks has changed. A target that works again gets a growing share of requests. */
  noteHealth(isHealthy: boolean, rules: EjectionRules | 'off', nowMs: number): void {
    this.healthy = isHealthy;
    if (isHealthy && this.#phase === 'in') this.#readmit(rules, nowMs);
  }

  /** Ends an ejection, because the target is now the only one, or because ejection is off. */
  clear(): void {
    this.#phase = 'in';
    this.#judgedUntilMs = 0;
  }

  #noteAnswered(upstream: EjectionScope, sentAtMs: number): OutlierChange {
    const rules = upstream.rules.ejection;
    const wasFailing = this.#phase === 'in' && this.healthy && this.isFailing(rules);
    this.answeredAtMs = sentAtMs;
    this.failuresInRow = 0;
    this.#wasUnreached = false;
    if (this.#phase !== 'trial') return wasFailing ? 'healthy' : undefined;
    this.#readmit(rules, upstream.clock());
    return 'returning';
  }

  /**
   * A 500 is counted here, unlike in the breaker, so that a target that answers every request with 500 is ejected while other targets work.
   */
  #noteFailed(result: AttemptResult, nowMs: number, failure: SendingFailure | undefined): void {
    if (this.failuresInRow === 0) this.failingSinceMs = nowMs;
    this.failuresInRow += 1;
    this.lastFailure = failure;
    this.#wasUnreached = result === 'unreached';
  }

  /** Ejects the target if the rules demand it. Returns the change of state. */
  #ejectIfDue(upstream: EjectionScope, nowMs: number): OutlierChange {
    const rules = upstream.rules.ejection;
    const begins = this.#phase === 'in' && this.failuresInRow === failuresOf(rules) ? 'failing' : undefined;
    if (rules === 'off') return begins;
    if (this.#phase === 'ejected') return undefined;
    const isDue = this.failuresInRow >= rules.failures && TargetState.#hasRoomOutside(upstream.targetStates, rules);
    if (this.#phase !== 'trial' && !isDue) return begins;
    this.#eject(rules, nowMs);
    return 'ejected';
  }

  /** Readmits the target, with a growing share of requests. */
  #readmit(rules: EjectionRules | 'off', nowMs: number): void {
    this.#phase = rules === 'off' ? 'in' : 'returning';
    this.#returnedAtMs = nowMs;
    this.untilMs = rules === 'off' ? 0 : nowMs + rules.slowStartSeconds * 1000;
    this.#credit = 0;
  }

  /**
   * Ejects the target. The duration doubles with each ejection. For a target that has worked for longer than the longest ejection, it
   * starts again at the base.
   */
  #eject({ baseSeconds, maxSeconds }: EjectionRules, nowMs: number): void {
    const hasProven = this.#phase !== 'trial' && nowMs - this.#returnedAtMs > maxSeconds * 1000;
    this.#ejections = hasProven ? 1 : this.#ejections + 1;
    const seconds = Math.min(maxSeconds, baseSeconds * 2 ** Math.min(20, this.#ejections - 1));
    this.#phase = 'ejected';
    this.untilMs = nowMs + seconds * 1000;
    this.#judgedUntilMs = this.untilMs;
    this.trials = 0;
  }

  /** Whether one more target may be ejected. One target always stays. Of several targets, one may be ejected with any `percentMax`. */
  static #hasRoomOutside(states: readonly TargetState[], { percentMax }: EjectionRules): boolean {
    const out = states.filter(
      (state) => !state.healthy || state.#phase === 'ejected' || state.#phase === 'trial',
    ).length;
    const most = Math.max(1, Math.floor((states.length * percentMax) / 100));
    return out < Math.min(most, states.length - 1);
  }
}

function failuresOf(rules: EjectionRules | 'off'): number {
  return rules === 'off' ? FAILURES_WITHOUT_RULES : rules.failures;
}
