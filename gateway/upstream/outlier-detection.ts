// What is known about one target: how many requests are on it, whether it fails, whether it is taken out, and how it comes back. This is the
// circuit breaker of the target as well: ejected is open, the trial after it is half-open.

import type { SendingFailure } from './failure-text.ts';
import type { AttemptOutcome } from './outcome.ts';

export interface EjectionRules {
  /** Failures in a row that take a target out. */
  readonly failures: number;
  /** How long it is out the first time; twice as long each further time. */
  readonly baseSeconds: number;
  readonly maxSeconds: number;
  /** The largest share of an upstream's targets that may be out, 1–100; one of several may always be. */
  readonly percentMax: number;
  /** How long it takes until a target that is back gets its full share. */
  readonly slowStartSeconds: number;
}

/** `in`: as any other. `ejected`: gets nothing. `trial`: gets one request at a time. `returning`: gets more and more of them. */
export type OutlierPhase = 'in' | 'ejected' | 'trial' | 'returning';

export interface OutlierState {
  readonly address: string;
  /** Requests that are on it. */
  outstanding: number;
  failuresInRow: number;
  /** When the first of them ended, as `clock` counts; meaningless without any. */
  failingSinceMs: number;
  /** The latest of them. */
  lastFailure: SendingFailure | undefined;
  phase: OutlierPhase;
  /** End of the ejection or of the return. */
  untilMs: number;
  /** Ejections that followed one another. */
  ejections: number;
  /** What was sent before has been judged by its ejection: however it ends, it says nothing about what the target is now. */
  judgedUntilMs: number;
  /** When it was last found to work again. */
  returnedAtMs: number;
  /** Requests that try whether it works again. */
  trials: number;
  /** Of a target that returns: the part of a request that it has earned. */
  credit: number;
  /** What health checks say; true without any. */
  healthy: boolean;
}

/** What has become of a target by the end of a sending, if it is something else than before. */
export type OutlierChange = 'ejected' | 'returning' | undefined;

/** The least share of requests with which a target returns. */
const SHARE_MIN = 0.1;

export function createOutlierState(address: string): OutlierState {
  return {
    address,
    outstanding: 0,
    failuresInRow: 0,
    failingSinceMs: 0,
    lastFailure: undefined,
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

/** Its phase at this moment: time ends an ejection and a return. */
export function phaseAt({ phase, untilMs }: OutlierState, nowMs: number): OutlierPhase {
  if (nowMs < untilMs) return phase;
  if (phase === 'ejected') return 'trial';
  return phase === 'returning' ? 'in' : phase;
}

/** Without rules for ejection: after so many failures in a row a target is called failing. */
const FAILURES_WITHOUT_RULES = 5;

/** Whether requests to it fail again and again, whether or not it can be taken out. */
export function isFailing({ failuresInRow }: OutlierState, rules: EjectionRules | 'off'): boolean {
  return failuresInRow >= (rules === 'off' ? FAILURES_WITHOUT_RULES : rules.failures);
}

/** How willingly a target is taken, least first. `held`: it returns, and has not earned a request yet. */
export const SELECTION_RANK = { free: 0, held: 1, tried: 2, out: 4 } as const;

/** To be asked once per choice: each time, a target that returns earns a part of a request. */
export function selectionRankOf(standing: OutlierState, rules: EjectionRules | 'off', nowMs: number): number {
  if (!standing.healthy) return SELECTION_RANK.out;
  if (rules === 'off' || standing.phase === 'in') return SELECTION_RANK.free;
  standing.phase = phaseAt(standing, nowMs);
  if (standing.phase === 'ejected') return SELECTION_RANK.out;
  if (standing.phase === 'trial') return standing.trials === 0 ? SELECTION_RANK.free : SELECTION_RANK.out;
  if (standing.phase === 'in') return SELECTION_RANK.free;
  const share = (nowMs - standing.returnedAtMs) / (rules.slowStartSeconds * 1000);
  standing.credit = Math.min(1, standing.credit + Math.max(SHARE_MIN, share));
  return standing.credit >= 1 ? SELECTION_RANK.free : SELECTION_RANK.held;
}

/** It gets a request. */
export function noteRequestBegan(standing: OutlierState): void {
  standing.outstanding += 1;
  if (standing.phase === 'trial') standing.trials += 1;
  else if (standing.phase === 'returning') standing.credit = Math.max(0, standing.credit - 1);
}

/**
 * @param sentAtMs when the request was given to it, as `clock` counts
 * @param all the targets of its upstream, of which not too many may be out
 * @param failure of a sending that failed or erred
 */
export function noteRequestEnded(
  standing: OutlierState,
  outcome: AttemptOutcome,
  sentAtMs: number,
  rules: EjectionRules | 'off',
  clock: () => number,
  all: readonly OutlierState[],
  failure?: SendingFailure,
): OutlierChange {
  standing.outstanding -= 1;
  if (sentAtMs < standing.judgedUntilMs) return undefined;
  const isTrial = standing.phase === 'trial';
  if (isTrial && standing.trials > 0) standing.trials -= 1;
  if (outcome === 'answered') {
    standing.failuresInRow = 0;
    if (!isTrial) return undefined;
    comeBack(standing, rules, clock());
    return 'returning';
  }
  if (outcome === 'abandoned') return undefined;
  // A target that errs on everything it gets is taken out beside others that do not.
  if (standing.failuresInRow === 0) standing.failingSinceMs = clock();
  standing.failuresInRow += 1;
  standing.lastFailure = failure;
  if (rules === 'off' || standing.phase === 'ejected') return undefined;
  if (!isTrial && (standing.failuresInRow < rules.failures || !hasRoomOutside(all, rules))) return undefined;
  eject(standing, rules, clock());
  return 'ejected';
}

/** It works again: requests come back to it little by little. */
export function comeBack(standing: OutlierState, rules: EjectionRules | 'off', nowMs: number): void {
  standing.phase = rules === 'off' ? 'in' : 'returning';
  standing.returnedAtMs = nowMs;
  standing.untilMs = rules === 'off' ? 0 : nowMs + rules.slowStartSeconds * 1000;
  standing.credit = 0;
}

/** Whoever has been back for as long as the longest ejection begins anew. */
function eject(standing: OutlierState, { baseSeconds, maxSeconds }: EjectionRules, nowMs: number): void {
  const hasProven = standing.phase !== 'trial' && nowMs - standing.returnedAtMs > maxSeconds * 1000;
  standing.ejections = hasProven ? 1 : standing.ejections + 1;
  const seconds = Math.min(maxSeconds, baseSeconds * 2 ** Math.min(20, standing.ejections - 1));
  standing.phase = 'ejected';
  standing.untilMs = nowMs + seconds * 1000;
  standing.judgedUntilMs = standing.untilMs;
  standing.trials = 0;
}

/** Whoever is alone, or is not judged any more, is not kept out. */
export function letIn(standing: OutlierState): void {
  standing.phase = 'in';
  standing.judgedUntilMs = 0;
}

/** Whether one more of these may be taken out: one of several always, and never all. */
function hasRoomOutside(standings: readonly OutlierState[], { percentMax }: EjectionRules): boolean {
  const out = standings.filter(({ phase, healthy }) => !healthy || phase === 'ejected' || phase === 'trial').length;
  const most = Math.max(1, Math.floor((standings.length * percentMax) / 100));
  return out < Math.min(most, standings.length - 1);
}
