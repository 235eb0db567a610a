// The outboxes of all receivers, and the form in which they are stored. Pure.

import type { Alert } from './due.ts';
import type { Outbox } from './outbox.ts';

export type Outboxes = Readonly<Record<string, Outbox>>;

/** Returns the outbox of a receiver, which may be named like a member that every object has, such as `constructor`. */
export function outboxOf(outboxes: Outboxes, receiver: string): Outbox | undefined {
  return Object.hasOwn(outboxes, receiver) ? outboxes[receiver] : undefined;
}

/** The version of the stored form. It changes if an earlier version of the gateway could not read a new form. */
const FORM = 1;

interface StoredForm {
  readonly form?: number;
  readonly outboxes?: Outboxes;
  /** The number of the write. A former release does not count its writes. */
  readonly writes?: number | undefined;
}

/** Returns the text to store. @param writes the number of the write */
export function toStoredForm(outboxes: Outboxes, writes?: number): string {
  return JSON.stringify({ form: FORM, outboxes, writes } satisfies StoredForm);
}

/** Reads the outboxes. Returns none for a text of another form, so that current causes are reported once more. */
export function outboxesIn(text: string | undefined): Outboxes {
  return storedIn(text).outboxes;
}

/** Reads the outboxes and the number of their write, which is undefined if it is not known, and 0 without a text. */
export function storedIn(text: string | undefined): {
  readonly outboxes: Outboxes;
  readonly writes: number | undefined;
} {
  if (text === undefined) return { outboxes: {}, writes: 0 };
  try {
    const { form, outboxes = {}, writes } = JSON.parse(text) as StoredForm;
    const whole = Object.entries(outboxes).filter(([, one]) => isOutbox(one));
    return { outboxes: form === FORM ? Object.fromEntries(whole) : {}, writes };
  } catch {
    return { outboxes: {}, writes: undefined };
  }
}

function isOutbox({ alerts, sending }: Outbox): boolean {
  const isWhole = ({ cause, seenMs, lastMs }: Alert) =>
    typeof cause.id === 'string' && typeof cause.cause === 'string' && seenMs > 0 && lastMs > 0;
  return Object.values(alerts).every(isWhole) && (sending === undefined || Array.isArray(sending.message.notes));
}

/** Returns the alerts of which this instance sent the beginning since a time, or left it to another instance, and whose end is due. */
export function toldSince(outboxes: Outboxes, sinceMs: number): Outboxes {
  return withAlerts(outboxes, ({ told, isOver }) => told !== undefined && told.atMs >= sinceMs && isOver !== true);
}

/** Returns the alerts of which the stored outboxes know nothing: no alert, or one that ended before they were told. */
export function untoldIn(stored: Outboxes, told: Outboxes): Outboxes {
  return withAlerts(told, (alert, id, receiver) => {
    const known = outboxOf(stored, receiver)?.alerts[id];
    return known?.told === undefined || (known.isOver === true && known.lastMs < (alert.told?.atMs ?? 0));
  });
}

/** Returns the alerts that this instance told itself. */
export function toldItself(outboxes: Outboxes): Outboxes {
  return withAlerts(outboxes, ({ told }) => told?.byOther !== true);
}

/** Adds the alerts that are missing in the outboxes. Their receivers got them, so they are not reported again, but their ends are. */
export function withTold(outboxes: Outboxes, told: Outboxes): Outboxes {
  const added = Object.entries(untoldIn(outboxes, told)).map(([receiver, { alerts }]): [string, Outbox] => {
    const known = outboxOf(outboxes, receiver);
    return [receiver, { ...known, alerts: { ...known?.alerts, ...alerts } }];
  });
  return { ...outboxes, ...Object.fromEntries(added) };
}

/** Returns the alerts as told by this instance, because the instance that told them is not the speaker. */
export function asToldItself(outboxes: Outboxes): Outboxes {
  const itself = ({ told, ...alert }: Alert): Alert => {
    if (told === undefined) return alert;
    const { byOther: _, ...own } = told;
    return { ...alert, told: own };
  };
  return Object.fromEntries(
    Object.entries(outboxes).map(([receiver, { alerts }]) => [
      receiver,
      { alerts: Object.fromEntries(Object.entries(alerts).map(([id, alert]) => [id, itself(alert)])) },
    ]),
  );
}

/** Returns the alerts that are kept; leaves out receivers without one. */
function withAlerts(outboxes: Outboxes, keeps: (alert: Alert, id: string, receiver: string) => boolean): Outboxes {
  const kept = Object.entries(outboxes).map(([receiver, { alerts }]): [string, Outbox] => {
    const some = Object.entries(alerts).filter(([id, alert]) => keeps(alert, id, receiver));
    return [receiver, { alerts: Object.fromEntries(some) }];
  });
  return Object.fromEntries(kept.filter(([, { alerts }]) => Object.keys(alerts).length > 0));
}
