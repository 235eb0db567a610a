// What alerts are made of: a cause as the console finds it, and what receivers are told about it.

export type Severity = 'failure' | 'warning';

/** As the console has it. */
export interface AlertCause {
  /** The same as long as the cause lasts. */
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
  /** The instances that it concerns; absent for all. */
  readonly instances?: readonly string[] | undefined;
  /** What the end of the cause means; absent if that is obvious. */
  readonly ended?: string | undefined;
  /** Whether it is over, and only still counted. */
  readonly hasRecovered?: true | undefined;
}

/** One cause in a message. It has only bounded text without control characters. */
export interface AlertNote {
  readonly id: string;
  readonly state: 'firing' | 'resolved';
  readonly severity: Severity;
  readonly cause: string;
  readonly consequence: string;
  readonly subject: { readonly kind: string; readonly name: string } | null;
  /** ISO 8601. */
  readonly since: string;
  /** When it ended; null if it lasts. */
  readonly until: string | null;
  readonly figures: Readonly<Record<string, number>>;
  /** Empty: all. */
  readonly instances: readonly string[];
  readonly runbook: string | null;
  /** The command to run first; null if there is none. */
  readonly next: string | null;
  /** The page of the console about it. */
  readonly link: string;
}

export interface AlertMessage {
  /** The id of the message. It is the same in every attempt to deliver it, so that a receiver recognizes a message that arrives twice. */
  readonly id: string;
  readonly atMs: number;
  /** A trial: nothing has happened. */
  readonly isTrial?: true;
  /** The public address of the gateway. */
  readonly gateway: string;
  readonly notes: readonly AlertNote[];
}

export function severityOf({ kind }: Pick<AlertCause, 'kind'>): Severity {
  return kind === 'bad' ? 'failure' : 'warning';
}
