// The reports on alerts and on present causes for operators, in `/status`, in the console and by `gateway alerts list` and `gateway
// status`. Pure.

import { type Cause, type Severity, severityOf } from '../shared/contracts/cause.ts';
import { isoTime } from '../shared/text.ts';
import { type Alert, endMsOf, endOf } from './due.ts';
import { type AlertNote, boundedCause, noteOf } from './message.ts';
import { isTold } from './outbox.ts';
import { type Outboxes, outboxOf } from './outboxes.ts';
import type { AlertSettings } from './settings.ts';
import type { Silence } from './store.ts';

/** The member `receivers` of `/status`, from which the console also makes causes. */
export interface ReceiversStatus {
  readonly receivers: Readonly<Record<string, ReceiverStatus>>;
}

interface ReceiverStatus {
  readonly kind: 'webhook' | 'email';
  readonly state: 'ok' | 'failing';
  readonly reason: string | null;
  readonly failing_since: string | null;
  /** The time at which the last message was delivered. */
  readonly last_message_at: string | null;
}

export interface AlertsReport extends ReceiversStatus {
  readonly configured: boolean;
  readonly alerts: readonly {
    readonly id: string;
    readonly state: Alert['state'];
    readonly severity: Severity;
    readonly cause: string;
    readonly since: string;
    /** The time at which the cause ended; null unless the state is `quiet`. */
    readonly quiet_since: string | null;
    /** The time at which the end of the cause is reported, if it does not return; null unless the state is `quiet`. */
    readonly resolved_at: string | null;
    readonly silent: boolean;
    /** The receivers that have got it. */
    readonly told: readonly string[];
  }[];
  readonly silences: readonly {
    readonly causes: string;
    readonly until: string;
    readonly by: string;
    readonly reason: string;
  }[];
}

export interface CausesReport {
  /** Failures come first. */
  readonly causes: readonly AlertNote[];
}

export function receiversStatus(settings: AlertSettings | undefined, outboxes: Outboxes): ReceiversStatus {
  const receivers = Object.entries(settings?.receivers ?? {}).map(([name, { webhook }]): [string, ReceiverStatus] => {
    const { failing, deliveredMs } = outboxOf(outboxes, name) ?? {};
    return [
      name,
      {
        kind: webhook === undefined ? 'email' : 'webhook',
        state: failing === undefined ? 'ok' : 'failing',
        reason: failing?.reason ?? null,
        failing_since: failing === undefined ? null : isoTime(failing.sinceMs),
        last_message_at: deliveredMs === undefined ? null : isoTime(deliveredMs),
      },
    ];
  });
  return { receivers: Object.fromEntries(receivers) };
}

export function reportOf(
  settings: AlertSettings | undefined,
  outboxes: Outboxes,
  silences: readonly Silence[],
  isSilent: (id: string) => boolean,
): AlertsReport {
  const all = Object.entries(outboxes).flatMap(([receiver, outbox]) =>
    Object.values(outbox.alerts)
      .filter(({ state }) => state !== 'ended')
      .map((alert) => ({ receiver, alert, isTold: isTold(outbox, alert) })),
  );
  const byCause = Map.groupBy(all, ({ alert }) => alert.cause.id);
  return {
    configured: settings !== undefined,
    ...receiversStatus(settings, outboxes),
    alerts: sorted(
      [...byCause].flatMap(([id, same]) => {
        const [first] = same.toSorted((one, other) => one.alert.seenMs - other.alert.seenMs);
        if (first === undefined) return [];
        const { cause, state, seenMs } = first.alert;
        const isQuiet = state === 'quiet' && settings !== undefined;
        return {
          id,
          state,
          severity: severityOf(cause),
          cause: cause.cause,
          since: cause.since ?? isoTime(seenMs),
          quiet_since: isQuiet ? isoTime(endMsOf(first.alert)) : null,
          resolved_at: isQuiet ? isoTime(endOf(first.alert, settings)) : null,
          silent: isSilent(id),
          told: same.filter((one) => one.isTold).map(({ receiver }) => receiver),
        };
      }),
    ),
    silences: silences.map(({ untilMs, ...silence }) => ({ ...silence, until: isoTime(untilMs) })),
  };
}

/** Returns the current causes in the form of a message. @param consoleUrl where operators open the console */
export function causesReport(causes: readonly Cause[], consoleUrl: string, nowMs: number): CausesReport {
  const seenNow = { state: 'firing', seenMs: nowMs, lastMs: nowMs } as const;
  const stateOf = ({ hasRecovered }: Cause) => (hasRecovered ? 'recovering' : 'firing');
  return {
    causes: causes.map((cause) => noteOf(stateOf(cause), { cause: boundedCause(cause), ...seenNow }, consoleUrl)),
  };
}

/** Sorts the alerts: quiet ones last, failures before warnings, the newest first. */
function sorted(alerts: AlertsReport['alerts']): AlertsReport['alerts'] {
  const rank = ({ state, severity }: AlertsReport['alerts'][number]) =>
    (state === 'quiet' ? 2 : 0) + (severity === 'failure' ? 0 : 1);
  return alerts.toSorted((one, other) => rank(one) - rank(other) || other.since.localeCompare(one.since));
}
