// The types of alerts: a cause, which the console finds, and the message that receivers get about it.

export type Severity = 'failure' | 'warning';

/** A cause of trouble, as the console lists it. */
export interface AlertCause {
  /** Does not change while the cause lasts. */
  readonly id: string;
  readonly kind: 'bad' | 'warn';
  readonly cause: string;
  readonly consequence: string;
  /** ISO 8601. */
  readonly since?: string | undefined;
  readonly runbook?: string | undefined;
  /** The command to run first, where the id does not say it. */
  readonly next?: string | undefined;
  /** A page of the console. */
  readonly details?: string | undefined;
  readonly figures?: Readonly<Record<string, number>> | undefined;
  /** The affected instances; absent if all instances are affected. */
  readonly instances?: readonly string[] | undefined;
  /** A sentence on what the end of the cause means; absent if that is obvious. */
  readonly ended?: string | undefined;
  /** The cause has ended, but figures of the last minutes still include it. */
  readonly hasRecovered?: true | undefined;
}

/** One cause in a message. Its texts are bounded and have no control characters. */
export interface AlertNote {
  readonly id: string;
  readonly state: 'firing' | 'resolved';
  readonly severity: Severity;
  readonly cause: string;
  readonly consequence: string;
  readonly subject: { readonly kind: string; readonly name: string } | null;
  /** ISO 8601. */
  readonly since: string;
  /** The time at which the cause ended; null if it lasts. */
  readonly until: string | null;
  readonly figures: Readonly<Record<string, number>>;
  /** The affected instances; empty if all instances are affected. */
  readonly instances: readonly string[];
  readonly runbook: string | null;
  /** The command to run first; null if there is none. */
  readonly next: string | null;
  /** The address of the console's page about the cause. */
  readonly link: string;
}

export interface AlertMessage {
  /** Every attempt to deliver the message has the same id: a receiver recognizes a message that arrives twice. */
  readonly id: string;
  readonly atMs: number;
  /** Set in a trial message, which `gateway alerts test` sends. */
  readonly isTrial?: true;
  /** The public address of the gateway. */
  readonly gateway: string;
  readonly notes: readonly AlertNote[];
}

export function severityOf({ kind }: Pick<AlertCause, 'kind'>): Severity {
  return kind === 'bad' ? 'failure' : 'warning';
}
