// Limits as they stand: decides like a counter store and spends nothing.

import type { Charge, CounterStore, LimitDecision } from '../../limits/store.ts';
import type { LimitUse, UsageReport } from '../../limits/usage.ts';
import { toVerdict } from '../../limits/verdict.ts';

/** @param report what the organization has used; undefined: not known, so everything is taken for unused */
export function createReadOnlyStore(report: UsageReport | undefined, now: () => number): Pick<CounterStore, 'decide'> {
  return {
    decide(charges): LimitDecision {
      const nowMs = now();
      const figures = charges.flatMap((charge) => figuresOf(charge, useOf(report, charge), nowMs));
      const source = report?.limits[0]?.source ?? 'unknown';
      return toVerdict(charges, figures, 0, nowMs, source);
    },
  };
}

/** What is used of the counter that a request would be charged to. */
function useOf(report: UsageReport | undefined, { policy, key }: Charge): LimitUse | undefined {
  return report?.limits.find(
    (use) =>
      use.policy === policy && (use.key_id === null ? !key.includes(':key:') : key.endsWith(`:key:${use.key_id}`)),
  );
}

/** Units remaining, milliseconds until more are freed, milliseconds until the cost fits; the last is the least that it can be. */
function figuresOf({ requests, cost }: Charge, use: LimitUse | undefined, nowMs: number): number[] {
  const remaining = use === undefined ? requests : Math.min(requests, use.remaining);
  const freedInMs = use?.next_freed_at ? Math.max(1, Date.parse(use.next_freed_at) - nowMs) : 0;
  return [remaining, freedInMs, remaining >= cost ? 0 : Math.max(1, freedInMs)];
}
