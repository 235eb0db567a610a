// Decides which alerts are due for one receiver, from the current causes and from the alerts that the receiver has already received. Pure.

import {
  addedFigures,
  type Cause,
  type Severity,
  type SufferedFigures,
  severityOf,
} from '../shared/contracts/cause.ts';
import { matchesPattern } from './matching.ts';
import type { AlertSettings, ReceiverSettings } from './settings.ts';

/** The state of one cause for one receiver. Times are epoch milliseconds. */
export interface Alert {
  /** The cause, as the last check found it. */
  readonly cause: Cause;
  /** `quiet`: the cause has gone, but its end is not reported yet, because the cause may return. */
  readonly state: 'pending' | 'firing' | 'quiet' | 'ended';
  readonly seenMs: number;
  readonly lastMs: number;
  /**
   * When this speaker began, if the cause had gone before. Its end is reported no sooner than after a whole `recoverySeconds` from then.
   */
  readonly checkedFromMs?: number;
  /** The last message to the receiver about this cause; undefined before the first message. */
  readonly told?: {
    readonly severity: Severity;
    /** The runbook and the reason; absent from a message of a former release. */
    readonly why?: string;
    readonly atMs: number;
    /** Set if this instance sent nothing, because it assumes that another instance has sent a message. */
    readonly byOther?: true;
    /** Set if a message before this one was delivered or given up. */
    readonly isRepeated?: true;
  };
  /**
   * Whether no message about the end is due, because it was sent, because a silence suppressed the alert, or because the cause ended before
   * it was reported.
   */
  readonly isOver?: boolean;
  /** The times of the cause before the present one, if it has returned before its end was reported; absent if there was one time only. */
  readonly past?: {
    readonly times: number;
    readonly lastedMs: number;
    readonly suffered: SufferedFigures | undefined;
    /** When the present time began. */
    readonly beganMs: number;
  };
  /** How often the cause has returned, and was reported, within an hour of its end. */
  readonly returns: number;
  /** Whether the cause has returned within an hour of an end that was reported. */
  readonly isReturn?: boolean;
}

export type Alerts = Readonly<Record<string, Alert>>;

export type AlertRules = Pick<AlertSettings, 'forSeconds' | 'recoverySeconds' | 'repeatMinutes'>;

/** An alert that has to go into the next message. */
export interface Due {
  readonly id: string;
  readonly state: 'firing' | 'resolved';
  readonly alert: Alert;
}

const RETURN_MS = 3_600_000;
/** `recoverySeconds` doubles with each return, at most this many times. */
const DOUBLINGS_MAX = 5;
/** A cause that gets another reason is reported again no sooner than this after the last message, because reasons may alternate. */
const OTHER_REASON_MS = 60_000;
/** The maximum number of alerts of one receiver. Beyond it, causes wait until an alert has ended. */
const ALERTS_MAX = 500;

/** Whether the receiver gets this cause. */
export function isFor(receiver: string, { severities, causes }: ReceiverSettings, cause: Cause): boolean {
  // Operators intend a start and a stop of the gateway, and a receiver that cannot be reached gets no message about itself.
  if (cause.id === 'lifecycle' || cause.id === `receiver ${receiver}`) return false;
  return severities.includes(severityOf(cause)) && causes.some((pattern) => matchesPattern(pattern, cause.id));
}

/**
 * Returns the alerts after a check.
 *
 * @param causes the current causes. A cause with `hasRecovered` is treated as gone; its `ended` may say why
 */
export function alertsAfterCheck(before: Alerts, causes: readonly Cause[], rules: AlertRules, nowMs: number): Alerts {
  const after = new Map<string, Alert>();
  const lasting = causes.filter(({ hasRecovered }) => hasRecovered !== true);
  const present = new Map(lasting.map((cause) => [cause.id, cause]));
  const all = new Map(causes.map((cause) => [cause.id, cause]));
  for (const [id, alert] of Object.entries(before)) {
    const cause = present.get(id);
    const away = () => withoutCause(withEnd(alert, all.get(id)), rules, nowMs);
    const next = cause === undefined ? away() : withCause(alert, cause, rules, nowMs);
    if (next !== undefined) after.set(id, next);
  }
  for (const cause of lasting) {
    if (after.has(cause.id) || after.size >= ALERTS_MAX) continue;
    const fresh: Alert = { cause, state: 'pending', seenMs: nowMs, lastMs: nowMs, returns: 0 };
    after.set(cause.id, withCause(fresh, cause, rules, nowMs));
  }
  return Object.fromEntries(after);
}

/** Takes over what the cause says of its end: why, when, and the final figures. */
function withEnd(alert: Alert, over: Cause | undefined): Alert {
  if (over === undefined) return alert;
  const { ended, endedAt, effect, suffered, pauses, instances } = over;
  const figures = {
    ...(pauses && { pauses }),
    ...(endedAt !== undefined && { endedAt }),
    // While Redis is away, the figures are those of one instance.
    ...(suffered !== undefined && { effect, suffered, instances }),
  };
  const final = alert.state === 'ended' ? {} : figures;
  return { ...alert, cause: { ...alert.cause, ...final, ...(ended !== undefined && { ended }) } };
}

/** Continues an alert with the present cause. A cause that has begun again after it was last seen is another time of the same alert. */
function continued(alert: Alert, cause: Cause, nowMs: number): Alert {
  const { cause: last, past } = alert;
  const since =
    cause.since !== undefined && last.since !== undefined && last.since < cause.since ? last.since : cause.since;
  const next: Alert = { ...alert, cause: { ...cause, since }, state: 'firing', lastMs: nowMs };
  const beganMs = Date.parse(cause.since ?? '');
  // A cause that returns soon keeps its start and its figures.
  if (!(beganMs > endMsOf(alert))) return next;
  const suffered = addedFigures([past?.suffered, last.suffered]);
  return { ...next, past: { ...lastedOf(alert), suffered, beganMs } };
}

/** Returns how often and how long the cause lasted, if it has gone, without the times between. */
export function lastedOf(alert: Pick<Alert, 'cause' | 'seenMs' | 'lastMs' | 'past'>) {
  const { cause, seenMs, past } = alert;
  const { times, ms } = cause.pauses ?? { times: 0, ms: 0 };
  const beganMs = past?.beganMs ?? (cause.since === undefined ? seenMs : Date.parse(cause.since));
  return {
    times: (past?.times ?? 0) + 1 + times,
    lastedMs: (past?.lastedMs ?? 0) + Math.max(0, endMsOf(alert) - beganMs - ms),
  };
}

export function isAway({ state }: Pick<Alert, 'state'>): boolean {
  return state === 'quiet' || state === 'ended';
}

/** Returns when the cause ended, if it has gone. */
export function endMsOf({ cause: { lastAt, endedAt = lastAt }, lastMs }: Pick<Alert, 'cause' | 'lastMs'>): number {
  return endedAt === undefined ? lastMs : Date.parse(endedAt);
}

function withCause(alert: Alert, cause: Cause, { forSeconds }: AlertRules, nowMs: number): Alert {
  if (alert.state === 'ended' && alert.isOver !== true) {
    // The end of the alert was not reported, so the alert continues.
    return continued(alert, cause, nowMs);
  }
  if (alert.state === 'firing' || alert.state === 'quiet') return continued(alert, cause, nowMs);
  const began: Alert =
    alert.state === 'ended'
      ? { cause, state: 'pending', seenMs: nowMs, lastMs: nowMs, returns: alert.returns, isReturn: true }
      : { ...alert, cause, lastMs: nowMs };
  if (nowMs - began.seenMs < forSeconds * 1000) return began;
  const { isReturn, ...firing } = began;
  return { ...firing, state: 'firing', returns: began.returns + (isReturn ? 1 : 0) };
}

function withoutCause(alert: Alert, rules: AlertRules, nowMs: number): Alert | undefined {
  if (alert.state === 'ended') return alert.isOver && nowMs - alert.lastMs >= RETURN_MS ? undefined : alert;
  // The cause ended before it was reported. If it had returned, its alert is kept for an hour, because its returns are counted.
  if (alert.state === 'pending') return alert.isReturn ? { ...alert, state: 'ended', isOver: true } : undefined;
  return { ...alert, state: nowMs >= endOf(alert, rules) ? 'ended' : 'quiet' };
}

/** Returns the time at which the end of a cause is reported, if the cause does not return. */
export function endOf(
  { lastMs, checkedFromMs = lastMs, returns }: Pick<Alert, 'lastMs' | 'checkedFromMs' | 'returns'>,
  { recoverySeconds }: Pick<AlertRules, 'recoverySeconds'>,
): number {
  return Math.max(lastMs, checkedFromMs) + recoverySeconds * 1000 * 2 ** Math.min(returns, DOUBLINGS_MAX);
}

/** Reasons for not reporting a cause now, apart from the rules. */
export interface Suppression {
  isSilent(id: string): boolean;
  /** Whether the report of this cause is left to another instance. */
  isDelegated(id: string): boolean;
  /** Whether the report of this end is left to another instance for now. */
  isEndDelegated(alert: Alert): boolean;
}

/** Returns the alerts that are due now, failures first. */
export function dueIn(
  alerts: Alerts,
  rules: AlertRules,
  { isSilent, isDelegated: isLeft, isEndDelegated }: Suppression,
  nowMs: number,
): Due[] {
  const due = Object.entries(alerts).flatMap(([id, alert]): Due[] => {
    if (alert.state === 'ended') {
      // A receiver that was told of the beginning of an alert gets its end, even during a silence.
      const isDue = alert.isOver !== true && (alert.told !== undefined || !isSilent(id)) && !isEndDelegated(alert);
      const end: Due = { id, state: 'resolved', alert };
      // A receiver that was not told of the beginning, because its messages were held back, gets it beside the end.
      return isDue ? [...(alert.told === undefined ? [{ ...end, state: 'firing' as const }] : []), end] : [];
    }
    const isNow = alert.told?.byOther === true ? !isLeft(id) : isNews(alert, rules, nowMs);
    return alert.state === 'firing' && !isSilent(id) && isNow ? [{ id, state: 'firing', alert }] : [];
  });
  const rank = ({ state, alert }: Due) => (state === 'resolved' ? 2 : severityOf(alert.cause) === 'failure' ? 0 : 1);
  return due.sort((one, other) => rank(one) - rank(other));
}

function whyOf({ runbook = '', reason = '' }: Cause): string {
  return `${runbook} ${reason}`;
}

function isNews({ cause, told }: Alert, { repeatMinutes }: AlertRules, nowMs: number): boolean {
  if (told === undefined) return true;
  if (told.severity === 'warning' && severityOf(cause) === 'failure') return true;
  if (told.why !== undefined && told.why !== whyOf(cause) && nowMs - told.atMs >= OTHER_REASON_MS) return true;
  return repeatMinutes > 0 && nowMs - told.atMs >= repeatMinutes * 60_000;
}

/**
 * Returns the alerts after a message with the due alerts, some of which are left to another instance. The end of an alert that a silence
 * suppressed is treated as reported.
 */
export function afterTelling(
  alerts: Alerts,
  due: readonly Due[],
  { isSilent, isDelegated: isLeft }: Suppression,
  nowMs: number,
): Alerts {
  const now = new Map(due.map(({ id, state }) => [id, state]));
  const after = Object.entries(alerts).map(([id, alert]): [string, Alert] => {
    const state = now.get(id);
    if (state === 'firing') {
      const severity = severityOf(alert.cause);
      const isRepeated = alert.told !== undefined && { isRepeated: true as const };
      const told = { severity, why: whyOf(alert.cause), atMs: nowMs, ...isRepeated };
      return [id, { ...alert, told: { ...told, ...(isLeft(id) && { byOther: true as const }) } }];
    }
    const isPassedOver = alert.state === 'ended' && alert.told === undefined && isSilent(id);
    return [id, state === 'resolved' || isPassedOver ? { ...alert, isOver: true } : alert];
  });
  return Object.fromEntries(after);
}

/**
 * Returns the alerts after a start of the gateway. All causes are treated as seen just now, because a gateway that has just started has
 * checked nothing yet, and must not report that causes have ended. A cause that had gone keeps its end, because the former speaker may have
 * sent a message with it.
 */
export function asJustSeen(alerts: Alerts, nowMs: number): Alerts {
  const seen = Object.entries(alerts).map(([id, alert]): [string, Alert] => {
    if (alert.state === 'firing') return [id, { ...alert, lastMs: nowMs }];
    return [id, alert.state === 'quiet' ? { ...alert, checkedFromMs: nowMs } : alert];
  });
  return Object.fromEntries(seen);
}
