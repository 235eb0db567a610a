// A counter store that decides on the current counters and spends nothing.

import {
  type Charge,
  type CounterStore,
  type LimitDecision,
  toLimitDecision,
} from '../../limits/counters/counter-store.ts';
import type { LimitUsageReport, LimitUse } from '../../limits/limit-usage.ts';

/** Creates the store. @param report the use of the organization's limits; undefined if unknown, which is treated as unused */
export function createReadOnlyStore(
  report: LimitUsageReport | undefined,
  now: () => number,
): Pick<CounterStore, 'decide'> {
  return {
    decide(charges): LimitDecision {
      const nowMs = now();
      const figures = charges.flatMap((charge) => figuresOf(charge, useOf(report, charge), nowMs));
      const source = report?.limits[0]?.source ?? 'unknown';
      return toLimitDecision(charges, figures, 0, nowMs, source);
    },
  };
}

/** Returns the use of the counter to which the request would be charged. */
function useOf(report: LimitUsageReport | undefined, { policy, counter }: Charge): LimitUse | undefined {
  return report?.limits.find(
    (use) =>
      use.policy === policy &&
      (use.key_id === null ? !counter.includes(':key:') : counter.endsWith(`:key:${use.key_id}`)),
  );
}

/** Returns three numbers: the units that remain, the milliseconds until more are free, and the milliseconds until the cost may fit. */
function figuresOf({ requests, cost }: Charge, use: LimitUse | undefined, nowMs: number): number[] {
  const remaining = use === undefined ? requests : Math.min(requests, use.remaining);
  const freedInMs = use?.next_freed_at ? Math.max(1, Date.parse(use.next_freed_at) - nowMs) : 0;
  return [remaining, freedInMs, remaining >= cost ? 0 : Math.max(1, freedInMs)];
}
