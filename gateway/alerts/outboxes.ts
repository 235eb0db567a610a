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

/** Returns the text to store. */
export function toStoredForm(outboxes: Outboxes): string {
  return JSON.stringify({ form: FORM, outboxes });
}

/** Reads the outboxes. Returns none for a text of another form, so that current causes are reported once more. */
export function outboxesIn(text: string | undefined): Outboxes {
  try {
    const { form, outboxes } = JSON.parse(text ?? '{}') as { readonly form?: number; readonly outboxes?: Outboxes };
    return form === FORM ? Object.fromEntries(Object.entries(outboxes ?? {}).filter(([, one]) => isOutbox(one))) : {};
  } catch {
    return {};
  }
}

function isOutbox({ alerts, sending }: Outbox): boolean {
  const isWhole = ({ cause, seenMs, lastMs }: Alert) =>
    typeof cause.id === 'string' && typeof cause.cause === 'string' && seenMs > 0 && lastMs > 0;
  return Object.values(alerts).every(isWhole) && (sending === undefined || Array.isArray(sending.message.notes));
}
