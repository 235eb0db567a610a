// The message that receivers get about causes.

import type { Severity } from '../shared/contracts/cause.ts';

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
