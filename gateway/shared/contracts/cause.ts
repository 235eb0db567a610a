// A cause of trouble: the console finds causes and shows them, alerts report them to receivers.

export type Severity = 'failure' | 'warning';

/** Times in its texts are ISO 8601; the page shows them as times of day. */
export interface Cause {
  /** Does not change while the cause lasts. */
  readonly id: string;
  /** `bad`: clients suffer; `warn`: they will, or only a part of them does. Operators and receivers read it as the severity. */
  readonly kind: 'bad' | 'warn';
  readonly cause: string;
  /** The name of the outage in charts, where it may have ended; the text of `cause` by default. */
  readonly title?: string | undefined;
  /** The effect on clients; empty if `cause` says it. */
  readonly consequence: string;
  /** When the cause began: ISO 8601, UTC. If it is undefined, the moment counts when the cause was first seen. */
  readonly since?: string | undefined;
  /** The time at which the cause ends, or its consequence changes; undefined if it is unknown. */
  readonly until?: string | undefined;
  /** A section of docs/operations.md. */
  readonly runbook?: string | undefined;
  /** The command to run first, where the id does not say it. */
  readonly next?: string | undefined;
  /** A page of the console with the details. */
  readonly details?: string | undefined;
  /** The numbers in the text, by name. */
  readonly figures?: Readonly<Record<string, number>> | undefined;
  /** The affected instances; absent if all instances are affected. */
  readonly instances?: readonly string[] | undefined;
  /** A sentence on what the end of the cause means; absent if that is obvious. */
  readonly ended?: string | undefined;
  /** True if the failure is over, and the last minute still counts it. Alerts treat such a cause as ended. */
  readonly hasRecovered?: true | undefined;
}

export function severityOf({ kind }: Pick<Cause, 'kind'>): Severity {
  return kind === 'bad' ? 'failure' : 'warning';
}
