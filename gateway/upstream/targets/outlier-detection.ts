// Outlier detection for one target: outstanding requests, consecutive failures, ejection and return.

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

export interface TargetState {
  readonly address: string;
  /** Requests in progress. */
  outstanding: number;
  /** When the latest answered request was sent, as `clock` counts. */
  answeredAtMs: number;
  failuresInRow: number;
  /** When the first of these failures ended, as `clock` counts. Meaningless if `failuresInRow` is 0. */
  failingSinceMs: number;
  /** The latest of these failures. */
  lastFailure: SendingFailure | undefined;
  /** Whether the target could not be reached at the latest failure. */
  wasUnreached: boolean;
  phase: OutlierPhase;
  /** When the ejection or the return ends. */
  untilMs: number;
  /** Consecutive ejections. */
  ejections: number;
  /** The end of the last ejection. The end of an attempt that was sent before this time is ignored. */
  judgedUntilMs: number;
  /** When the target was last found to work again, as `clock` counts. */
  returnedAtMs: number;
  /** Trial requests in progress. */
  trials: number;
  /** Credit of a returning target; 1 buys one request. */
  credit: number;
  /** The verdict of the health checks; true without checks. */
  healthy: boolean;
}

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

export function createTargetState(address: string): TargetState {
  return {
    address,
    outstanding: 0,
    answeredAtMs: Number.NEGATIVE_INFINITY,
    failuresInRow: 0,
    failingSinceMs: 0,
    lastFailure: undefined,
    wasUnreached: false,
    phase: 'in',
    untilMs: 0,
    ejections: 0,
    judgedUntilMs: 0,
    returnedAtMs: Number.NEGATIVE_INFINITY,
    trials: 0,
    credit: 0,
    healthy: true,
  };
}

/** Returns the current phase. Ejection and return end by time. */
export function phaseAt({ phase, untilMs }: TargetState, nowMs: number): OutlierPhase {
  if (nowMs < untilMs) return phase;
  if (phase === 'ejected') return 'trial';
  return phase === 'returning' ? 'in' : phase;
}

/** Failures in a row after which a target without ejection rules is reported as failing. */
const FAILURES_WITHOUT_RULES = 5;

/** Whether requests to the target keep failing, even if the target cannot be ejected. */
export function isFailing({ failuresInRow }: TargetState, rules: EjectionRules | 'off'): boolean {
  return failuresInRow >= failuresOf(rules);
}

function failuresOf(rules: EjectionRules | 'off'): number {
  return rules === 'off' ? FAILURES_WITHOUT_RULES : rules.failures;
}

/**
 * The ranks of targets for a choice; the lowest rank is chosen. `held` is a returning target without enough credit for a request.
 * `unreached` is an ejected or unhealthy target that could not be reached. An attempt at it costs little, so it is chosen before a target
 * to which this request was already sent.
 *
 * `tried` is added to the rank of a target to which this request was already sent. No two sums are equal, and a target that is `out` comes
 * after all others.
 */
export const SELECTION_RANK = { free: 0, held: 1, unreached: 2, tried: 3, out: 6 } as const;

/** Adds credit to a returning target, and returns the rank of a target for one choice. */
export function creditAndRank(state: TargetState, rules: EjectionRules | 'off', nowMs: number): number {
  const out = state.wasUnreached ? SELECTION_RANK.unreached : SELECTION_RANK.out;
  if (!state.healthy) return out;
  if (rules === 'off' || state.phase === 'in') return SELECTION_RANK.free;
  state.phase = phaseAt(state, nowMs);
  if (state.phase === 'ejected') return out;
  if (state.phase === 'trial') return state.trials === 0 ? SELECTION_RANK.free : out;
  if (state.phase === 'in') return SELECTION_RANK.free;
  const share = (nowMs - state.returnedAtMs) / (rules.slowStartSeconds * 1000);
  state.credit = Math.min(1, state.credit + Math.max(SHARE_MIN, share));
  return state.credit >= 1 ? SELECTION_RANK.free : SELECTION_RANK.held;
}

/** Call it when a request is sent to the target. */
export function noteRequestBegan(state: TargetState): void {
  state.outstanding += 1;
  if (state.phase === 'trial') state.trials += 1;
  else if (state.phase === 'returning') state.credit = Math.max(0, state.credit - 1);
}

/**
 * Call it when a request to the target has ended. Returns the change that this caused.
 *
 * @param sentAtMs when the request was sent, as `clock` counts
 * @param failure cause, if the attempt failed or erred
 */
export function noteRequestEnded(
  state: TargetState,
  upstream: EjectionScope,
  result: AttemptResult,
  sentAtMs: number,
  failure?: SendingFailure,
): OutlierChange {
  state.outstanding -= 1;
  if (sentAtMs < state.judgedUntilMs) return undefined;
  if (state.phase === 'trial' && state.trials > 0) state.trials -= 1;
  if (result === 'abandoned') return undefined;
  if (result === 'answered') return noteAnswered(state, upstream, sentAtMs);
  const nowMs = upstream.clock();
  noteFailed(state, result, nowMs, failure);
  return ejectIfDue(state, upstream, nowMs);
}

function noteAnswered(state: TargetState, upstream: EjectionScope, sentAtMs: number): OutlierChange {
  const rules = upstream.rules.ejection;
  const wasFailing = state.phase === 'in' && state.healthy && isFailing(state, rules);
  state.answeredAtMs = sentAtMs;
  state.failuresInRow = 0;
  state.wasUnreached = false;
  if (state.phase !== 'trial') return wasFailing ? 'healthy' : undefined;
  readmit(state, rules, upstream.clock());
  return 'returning';
}

/**
 * A 500 is counted here, unlike in the breaker, so that a target that answers every request with 500 is ejected while other targets work.
 */
function noteFailed(
  state: TargetState,
  result: AttemptResult,
  nowMs: number,
  failure: SendingFailure | undefined,
): void {
  if (state.failuresInRow === 0) state.failingSinceMs = nowMs;
  state.failuresInRow += 1;
  state.lastFailure = failure;
  state.wasUnreached = result === 'unreached';
}

/** Ejects the target if the rules demand it. Returns the change of state. */
function ejectIfDue(state: TargetState, upstream: EjectionScope, nowMs: number): OutlierChange {
  const rules = upstream.rules.ejection;
  const begins = state.phase === 'in' && state.failuresInRow === failuresOf(rules) ? 'failing' : undefined;
  if (rules === 'off') return begins;
  if (state.phase === 'ejected') return undefined;
  if (
    state.phase !== 'trial' &&
    (state.failuresInRow < rules.failures || !hasRoomOutside(upstream.targetStates, rules))
  )
    return begins;
  eject(state, rules, nowMs);
  return 'ejected';
}

/** Readmits a target, with a growing share of requests. */
export function readmit(state: TargetState, rules: EjectionRules | 'off', nowMs: number): void {
  state.phase = rules === 'off' ? 'in' : 'returning';
  state.returnedAtMs = nowMs;
  state.untilMs = rules === 'off' ? 0 : nowMs + rules.slowStartSeconds * 1000;
  state.credit = 0;
}

/**
 * Ejects a target. The duration doubles with each ejection. For a target that has worked for longer than the longest ejection, it starts
 * again at the base.
 */
function eject(state: TargetState, { baseSeconds, maxSeconds }: EjectionRules, nowMs: number): void {
  const hasProven = state.phase !== 'trial' && nowMs - state.returnedAtMs > maxSeconds * 1000;
  state.ejections = hasProven ? 1 : state.ejections + 1;
  const seconds = Math.min(maxSeconds, baseSeconds * 2 ** Math.min(20, state.ejections - 1));
  state.phase = 'ejected';
  state.untilMs = nowMs + seconds * 1000;
  state.judgedUntilMs = state.untilMs;
  state.trials = 0;
}

/** Ends an ejection, because the target is now the only one, or because ejection is off. */
export function clearOutlier(state: TargetState): void {
  state.phase = 'in';
  state.judgedUntilMs = 0;
}

/** Whether one more target may be ejected. One target always stays. Of several targets, one may be ejected with any `percentMax`. */
function hasRoomOutside(states: readonly TargetState[], { percentMax }: EjectionRules): boolean {
  const out = states.filter(({ phase, healthy }) => !healthy || phase === 'ejected' || phase === 'trial').length;
  const most = Math.max(1, Math.floor((states.length * percentMax) / 100));
  return out < Math.min(most, states.length - 1);
}
