// Pure: finds what one receiver must be told, from the present causes and from what the receiver was told before.

import { type AlertCause, type Severity, severityOf } from './alert.ts';
import { matchesPattern } from './matching.ts';
import type { AlertSettings, ReceiverSettings } from './settings.ts';

/** A cause, as one receiver knows it. Epoch milliseconds. */
export interface Alert {
  /** As it was seen last. */
  readonly cause: AlertCause;
  /** `quiet`: the cause is gone, and the receiver is not told yet, because the cause may return. */
  readonly state: 'pending' | 'firing' | 'quiet' | 'ended';
  readonly seenMs: number;
  readonly lastMs: number;
  /** What the receiver was told since the cause was seen; absent if there is nothing. */
  readonly told?: {
    readonly severity: Severity;
    readonly atMs: number;
    /** Whether this instance assumes that another instance has told the receiver. */
    readonly byOther?: true;
  };
  /** Whether its end needs no message: the receiver was told, or is not to be told. */
  readonly isOver?: boolean;
  /** How often the cause was told again within an hour of its end. */
  readonly returns: number;
  /** Whether the cause has returned within an hour of an end that was told. It may pass again before the receiver is told. */
  readonly isReturn?: boolean;
}

export type Alerts = Readonly<Record<string, Alert>>;

export type AlertRules = Pick<AlertSettings, 'forSeconds' | 'recoverySeconds' | 'repeatMinutes'>;

/** An alert that the receiver has to be told. */
export interface Due {
  readonly id: string;
  readonly state: 'firing' | 'resolved';
  readonly alert: Alert;
}

const RETURN_MS = 3_600_000;
/** The time to recovery is at most 32 times as long. */
const DOUBLINGS_MAX = 5;
/** Alerts of one receiver. More wait until others have ended. */
const ALERTS_MAX = 500;

/** Whether the receiver gets this cause. */
export function isFor(receiver: string, { severities, causes }: ReceiverSettings, cause: AlertCause): boolean {
  // A start and an end are intended; and a receiver cannot be told that it is away.
  if (cause.id === 'lifecycle' || cause.id === `receiver ${receiver}`) return false;
  return severities.includes(severityOf(cause)) && causes.some((pattern) => matchesPattern(pattern, cause.id));
}

/**
 * Returns the alerts after a check of the causes that there are now.
 *
 * @param causes a cause that has recovered counts as away; it may say why
 */
export function observed(before: Alerts, causes: readonly AlertCause[], rules: AlertRules, nowMs: number): Alerts {
  const after = new Map<string, Alert>();
  const lasting = causes.filter(({ hasRecovered }) => hasRecovered !== true);
  const present = new Map(lasting.map((cause) => [cause.id, cause]));
  const endOfCause = new Map(causes.map(({ id, ended }) => [id, ended]));
  for (const [id, alert] of Object.entries(before)) {
    const cause = present.get(id);
    const ended = endOfCause.get(id) ?? alert.cause.ended;
    const away = ended === alert.cause.ended ? alert : { ...alert, cause: { ...alert.cause, ended } };
    const next = cause === undefined ? withoutCause(away, rules, nowMs) : withCause(alert, cause, rules, nowMs);
    if (next !== undefined) after.set(id, next);
  }
  for (const cause of lasting) {
    if (after.has(cause.id) || after.size >= ALERTS_MAX) continue;
    const fresh: Alert = { cause, state: 'pending', seenMs: nowMs, lastMs: nowMs, returns: 0 };
    after.set(cause.id, withCause(fresh, cause, rules, nowMs));
  }
  return Object.fromEntries(after);
}

function withCause(alert: Alert, cause: AlertCause, { forSeconds }: AlertRules, nowMs: number): Alert {
  if (alert.state === 'ended' && alert.isOver !== true) {
    // The receiver was not told of its end, so the alert continues.
    return { ...alert, cause, state: 'firing', lastMs: nowMs };
  }
  if (alert.state === 'firing' || alert.state === 'quiet') return { ...alert, cause, state: 'firing', lastMs: nowMs };
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
  // The cause passed before the receiver was told. The alert of a cause that had returned is kept for an hour, because its returns count.
  if (alert.state === 'pending') return alert.isReturn ? { ...alert, state: 'ended', isOver: true } : undefined;
  return { ...alert, state: nowMs >= endOf(alert, rules) ? 'ended' : 'quiet' };
}

/** When the end of a cause that stays away is told. */
export function endOf(
  { lastMs, returns }: Pick<Alert, 'lastMs' | 'returns'>,
  { recoverySeconds }: Pick<AlertRules, 'recoverySeconds'>,
): number {
  return lastMs + recoverySeconds * 1000 * 2 ** Math.min(returns, DOUBLINGS_MAX);
}

/** What decides, apart from the rules, whether a cause is told at present. */
export interface Holds {
  isSilent(id: string): boolean;
  /** Whether another instance tells it. */
  isLeft(id: string): boolean;
}

/** What has to be told now, failures first. */
export function dueIn(alerts: Alerts, rules: AlertRules, { isSilent, isLeft }: Holds, nowMs: number): Due[] {
  const due = Object.entries(alerts).flatMap(([id, alert]): Due[] => {
    if (alert.state === 'ended') {
      // A receiver that was told of the beginning is told of the end, even during a silence.
      const isDue = alert.isOver !== true && (alert.told !== undefined || !isSilent(id));
      return isDue ? [{ id, state: 'resolved', alert }] : [];
    }
    const isNow = alert.told?.byOther === true ? !isLeft(id) : isNews(alert, rules, nowMs);
    return alert.state === 'firing' && !isSilent(id) && isNow ? [{ id, state: 'firing', alert }] : [];
  });
  const rank = ({ state, alert }: Due) => (state === 'resolved' ? 2 : severityOf(alert.cause) === 'failure' ? 0 : 1);
  return due.sort((one, other) => rank(one) - rank(other));
}

function isNews({ cause, told }: Alert, { repeatMinutes }: AlertRules, nowMs: number): boolean {
  if (told === undefined) return true;
  if (told.severity === 'warning' && severityOf(cause) === 'failure') return true;
  return repeatMinutes > 0 && nowMs - told.atMs >= repeatMinutes * 60_000;
}

/** The alerts after these were told or left to another instance, and after the ends that a silence keeps back were passed over. */
export function afterTelling(alerts: Alerts, told: readonly Due[], { isSilent, isLeft }: Holds, nowMs: number): Alerts {
  const now = new Map(told.map(({ id, state }) => [id, state]));
  const after = Object.entries(alerts).map(([id, alert]): [string, Alert] => {
    const state = now.get(id);
    if (state === 'firing') {
      const severity = severityOf(alert.cause);
      return [id, { ...alert, told: { severity, atMs: nowMs, ...(isLeft(id) && { byOther: true as const }) } }];
    }
    const isPassedOver = alert.state === 'ended' && alert.told === undefined && isSilent(id);
    return [id, state === 'resolved' || isPassedOver ? { ...alert, isOver: true } : alert];
  });
  return Object.fromEntries(after);
}

/**
 * Returns the alerts after a start of the gateway. All causes count as seen just now: a gateway that has just started does not know the
 * causes yet, and must not report that they have ended.
 */
export function asJustSeen(alerts: Alerts, nowMs: number): Alerts {
  const seen = Object.entries(alerts).map(([id, alert]): [string, Alert] => [
    id,
    alert.state === 'firing' || alert.state === 'quiet' ? { ...alert, lastMs: nowMs } : alert,
  ]);
  return Object.fromEntries(seen);
}
