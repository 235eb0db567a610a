// The type of a cause of trouble. The console finds and shows causes, and alerts report them to receivers.

export type Severity = 'failure' | 'warning';

/** Times in its texts are ISO 8601; the page shows them as times of day. */
export interface Cause {
  /** Does not change while the cause lasts. */
  readonly id: string;
  /**
   * `bad`: clients suffer. `warn`: clients will suffer, or only a part of them does. Operators and receivers read the kind as the severity.
   */
  readonly kind: 'bad' | 'warn';
  readonly cause: string;
  /** The name of the outage in charts, where it may have ended; the text of `cause` by default. */
  readonly title?: string | undefined;
  /** The effect on clients; empty if `cause` says it. */
  readonly consequence: string;
  /** When the cause began, in ISO 8601, UTC; undefined if it began when it was first seen. */
  readonly since?: string | undefined;
  /** The time at which the cause ends, or its consequence changes; undefined if it is unknown. */
  readonly until?: string | undefined;
  /** A section of docs/operations.md. */
  readonly runbook?: string | undefined;
  /** The command to run first; undefined if it follows from the id. */
  readonly next?: string | undefined;
  /** Why it fails, such as the error of a service; a change of it is worth a message. Undefined if the cause has one reason only. */
  readonly reason?: string | undefined;
  /** A page of the console with the details. */
  readonly details?: string | undefined;
  /** The upstream whose service is at fault; undefined if it is none. */
  readonly upstream?: string | undefined;
  /** The organizations whose requests suffer, as far as they are known. */
  readonly organizations?: readonly string[] | undefined;
  /** The numbers in the text, by name. */
  readonly figures?: Readonly<Record<string, number>> | undefined;
  /** The operations that the consequence names, of all of which the causes of several instances are joined. */
  readonly symptoms?: readonly Symptom[] | undefined;
  /** The affected instances; absent if all instances are affected. */
  readonly instances?: readonly string[] | undefined;
  /** How many requests have suffered since the cause began, and whose; absent if none is known. */
  readonly effect?: string | undefined;
  /** The numbers in `effect`. */
  readonly suffered?: SufferedFigures | undefined;
  /** The times since it began in which the cause was gone, and returned soon; absent if there were none. */
  readonly pauses?: Pauses | undefined;
  /** When a cause with `hasRecovered` ended: ISO 8601, UTC; undefined if that is not known. */
  readonly endedAt?: string | undefined;
  /** When a request suffered last: the end of a cause that is no longer found because its instance has ended. Undefined if not counted. */
  readonly lastAt?: string | undefined;
  /** A sentence about the meaning of the end of the cause; undefined if that is obvious. */
  readonly ended?: string | undefined;
  /** True if the failure is over, but still in the counts of the last minute. Alerts treat such a cause as ended. */
  readonly hasRecovered?: true | undefined;
  /** True if the cause, which has also recovered, is only there for alerts, which report its end. */
  readonly isOver?: true | undefined;
}

export interface Pauses {
  readonly times: number;
  readonly ms: number;
}

/** The number of all requests, and numbers of those that suffered. */
export interface SufferedFigures {
  readonly requests: number;
}

/** An operation that fails because of a cause, with its counts of the last minute; one that is slow if all its requests were answered. */
export interface Symptom {
  readonly name: string;
  readonly requests: number;
  readonly failed: number;
  /** Refused with 5xx before they were sent, as by an open breaker; absent if there are none. */
  readonly unserved?: number;
}

export function severityOf({ kind }: Pick<Cause, 'kind'>): Severity {
  return kind === 'bad' ? 'failure' : 'warning';
}

/** Returns the pauses of the instance that saw the most of them, because instances see the same times of a cause. */
export function mostPauses(all: readonly (Pauses | undefined)[]): Pauses | undefined {
  return all.toSorted((one, other) => (other?.times ?? 0) - (one?.times ?? 0))[0];
}

/** Adds the figures of several instances or times, of durations the longest; undefined if there are none. */
export function addedFigures<Of extends SufferedFigures>(figures: readonly (Of | undefined)[]): Of | undefined {
  const all = figures.flatMap((one) => (one === undefined ? [] : [Object.entries(one) as [string, number][]]));
  if (all.length === 0) return undefined;
  const sums = new Map<string, number>();
  for (const [key, value] of all.flat()) {
    const known = sums.get(key) ?? 0;
    sums.set(key, key.endsWith('_ms') ? Math.max(known, value) : known + value);
  }
  return Object.fromEntries(sums) as unknown as Of;
}
