// Lists the present causes in the form of a message, for commands and for operators without a receiver. Pure.

import type { Cause } from '../shared/contracts/cause.ts';
import type { AlertNote } from './alert.ts';
import { boundedCause, noteOf } from './message.ts';

export interface CausesReport {
  /** Failures come first. */
  readonly causes: readonly AlertNote[];
}

interface Around {
  /** Where operators open the console. */
  readonly consoleUrl: string;
  readonly nowMs: number;
}

export function causesReport(causes: readonly Cause[], { consoleUrl, nowMs }: Around): CausesReport {
  return {
    causes: causes.map(boundedCause).map((cause) => {
      const alert = { cause, state: 'firing', seenMs: nowMs, lastMs: nowMs, returns: 0 } as const;
      return noteOf({ id: cause.id, state: 'firing', alert }, consoleUrl);
    }),
  };
}
