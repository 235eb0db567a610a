// The outbox of one receiver: its alerts, and the message that is being delivered. One message is delivered at a time. Changes during a
// delivery go into the next message, so that nothing is lost, and no messages accumulate while a receiver cannot be reached. Pure.

import { type Cause, severityOf } from '../shared/contracts/cause.ts';
import {
  type Alert,
  type AlertRules,
  type Alerts,
  afterTelling,
  alertsAfterCheck,
  type Due,
  dueIn,
  isAway,
  isFor,
  type Suppression,
} from './due.ts';
import type { AlertMessage } from './message.ts';
import type { ReceiverSettings } from './settings.ts';

export interface Outbox {
  readonly alerts: Alerts;
  /** The message that is not delivered yet. */
  readonly sending?: MessageInDelivery | undefined;
  /** The time at which the last message was made. */
  readonly madeMs?: number;
  /** The time at which the last message was delivered. A former release does not write it. */
  readonly deliveredMs?: number;
  /** The time at which the last message with a new failure was made. A former release does not write it. */
  readonly failureMadeMs?: number;
  /** Why the last attempt failed; undefined if it succeeded. */
  readonly failing?: { readonly reason: string; readonly sinceMs: number } | undefined;
}

interface MessageInDelivery {
  readonly message: AlertMessage;
  readonly attempts: number;
  /** The time of the next attempt. */
  readonly nextMs: number;
}

/** The maximum number of causes in one message. The next message contains the others. */
const NOTES_MAX = 50;
const RETRY_MS = { first: 5000, longest: 300_000 } as const;
const DOUBLINGS_MAX = 6;
const GIVE_UP_MS = 86_400_000;

interface Observation extends Suppression {
  readonly receiver: string;
  readonly settings: ReceiverSettings;
  readonly causes: readonly Cause[];
  readonly rules: AlertRules & { readonly groupSeconds: number };
  messageOf(due: readonly Due[]): AlertMessage;
  readonly nowMs: number;
}

/** Returns the outbox after a check of the current causes. */
export function afterCheck(outbox: Outbox, observation: Observation): Outbox {
  const { receiver, settings, rules, nowMs } = observation;
  const causes = observation.causes.filter((cause) => cause.hasRecovered === true || isFor(receiver, settings, cause));
  const alerts = alertsAfterCheck(outbox.alerts, causes, rules, nowMs);
  const { madeMs, failureMadeMs, sending } = outbox;
  const isApart = (ms = Number.NEGATIVE_INFINITY) => nowMs - ms >= rules.groupSeconds * 1000;
  const all = sending === undefined ? dueIn(alerts, rules, observation, nowMs) : [];
  // A new failure does not wait after a message about other things, such as the end of another failure.
  const mayTell = isApart(madeMs) || (isApart(failureMadeMs) && all.some(isNewFailure));
  const due = mayTell ? all.slice(0, NOTES_MAX) : [];
  const next = {
    ...withPresentTexts(outbox, alerts, observation),
    alerts: afterTelling(alerts, due, observation, nowMs),
  };
  const own = due.filter(({ id, state }) => state === 'resolved' || !observation.isDelegated(id));
  if (own.length === 0) return next;
  const made = { madeMs: nowMs, ...(own.some(isNewFailure) && { failureMadeMs: nowMs }) };
  return { ...next, ...made, sending: { message: observation.messageOf(own), attempts: 0, nextMs: nowMs } };
}

function isNewFailure({ state, alert: { cause, told } }: Due): boolean {
  return state === 'firing' && severityOf(cause) === 'failure' && told?.severity !== 'failure';
}

/** A message that is sent again says so of a cause that has gone since it was made. */
function withPresentTexts(outbox: Outbox, alerts: Alerts, { messageOf }: Observation): Outbox {
  const { sending } = outbox;
  if (sending === undefined || sending.attempts === 0) return outbox;
  const notes = sending.message.notes.flatMap((note) => {
    const alert = alerts[note.id];
    const hasGone = note.state === 'firing' && alert !== undefined && isAway(alert);
    return hasGone ? messageOf([{ id: note.id, state: 'firing', alert }]).notes : [note];
  });
  return { ...outbox, sending: { ...sending, message: { ...sending.message, notes } } };
}

export function afterDelivery({ failing: _, sending: __, ...outbox }: Outbox, nowMs: number): Outbox {
  return { ...outbox, deliveredMs: nowMs };
}

/** Whether a message has told the receiver that the cause has begun. The first one may not be delivered yet. */
export function isTold({ sending }: Outbox, { cause: { id }, told }: Alert): boolean {
  const isWaiting = sending?.message.notes.some((note) => note.id === id && note.state === 'firing') ?? false;
  return told !== undefined && (told.isRepeated === true || !isWaiting);
}

/**
 * Returns the outbox after a failed delivery. The message is retried later, or dropped after a day, when the next message contains the
 * causes that still last. `random` is from 0 to 1.
 */
export function afterFailure(outbox: Outbox, reason: string, nowMs: number, random: number): Outbox {
  const { sending, failing } = outbox;
  const next = { ...outbox, failing: { reason, sinceMs: failing?.sinceMs ?? nowMs } };
  if (sending === undefined) return next;
  if (nowMs - sending.message.atMs >= GIVE_UP_MS) return { ...next, sending: undefined };
  const backOffMs = Math.min(RETRY_MS.longest, RETRY_MS.first * 2 ** Math.min(sending.attempts, DOUBLINGS_MAX));
  const nextMs = nowMs + Math.round(backOffMs * (0.8 + 0.4 * random));
  return { ...next, sending: { ...sending, attempts: sending.attempts + 1, nextMs } };
}
