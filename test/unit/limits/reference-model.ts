// The meaning of a limit in its plainest form: every admission is remembered for ever and looked through each time. The stores are compared
// with it.

import type { Charge, LimitDecision } from '../../../gateway/limits/counters/counter-store.ts';

interface Admission {
  readonly atMs: number;
  readonly cost: number;
}

interface Log {
  admissionsOf(key: string): readonly Admission[];
  /** Units held and when the first of them are freed. */
  held(charge: Charge, atMs: number): { readonly units: number; readonly freedMs: number };
  waitMs(charge: Charge, atMs: number, clockMs: number): number;
  admit(charge: Charge, atMs: number): void;
}

function createLog(): Log {
  const logs = new Map<string, Admission[]>();
  const admissionsOf = (key: string) => logs.get(key) ?? [];
  const total = (admissions: readonly Admission[]) => admissions.reduce((sum, { cost }) => sum + cost, 0);

  function countedAt({ counter, windowMs }: Charge, atMs: number): Admission[] {
    return admissionsOf(counter).filter((admission) => admission.atMs + windowMs > atMs);
  }

  function fits(charge: Charge, atMs: number): boolean {
    return charge.cost === 0 || total(countedAt(charge, atMs)) + charge.cost <= charge.requests;
  }

  return {
    admissionsOf,
    held(charge, atMs) {
      const counted = countedAt(charge, atMs);
      return { units: total(counted), freedMs: Math.min(...counted.map((one) => one.atMs + charge.windowMs)) };
    },
    waitMs(charge, atMs, clockMs) {
      if (fits(charge, atMs)) return 0;
      if (charge.cost > charge.requests) return charge.windowMs;
      const releases = countedAt(charge, atMs).map((admission) => admission.atMs + charge.windowMs);
      return Math.min(...releases.filter((release) => fits(charge, release))) - clockMs;
    },
    admit({ counter, cost }, atMs) {
      if (cost > 0) logs.set(counter, [...admissionsOf(counter), { atMs, cost }]);
    },
  };
}

export interface Reference {
  decide(charges: readonly Charge[], clockMs: number): Omit<LimitDecision, 'source'>;
  admissionsOf(key: string): readonly Admission[];
}

export function createReference(): Reference {
  const log = createLog();

  function decide(charges: readonly Charge[], clockMs: number): Omit<LimitDecision, 'source'> {
    const atMs = Math.max(clockMs, ...charges.map(({ counter }) => log.admissionsOf(counter).at(-1)?.atMs ?? 0));
    const asked = charges.map((charge) => ({ charge, waitMs: log.waitMs(charge, atMs, clockMs) }));
    const misfits = asked.filter(({ waitMs }) => waitMs > 0);
    const violated = misfits.filter(({ charge }) => charge.enforce);
    if (violated.length === 0) {
      for (const { charge } of asked.filter(({ waitMs }) => waitMs === 0)) log.admit(charge, atMs);
    }
    const states = asked.map(({ charge, waitMs }) => {
      const { policy, requests: limit, windowSeconds } = charge;
      const { units, freedMs } = log.held(charge, atMs);
      const remaining = Math.max(0, limit - units);
      const resetMs = units === 0 ? 0 : freedMs - clockMs;
      return { policy, limit, windowSeconds, remaining, resetMs: remaining === 0 && waitMs > 0 ? waitMs : resetMs };
    });
    return {
      outcome: violated.length === 0 ? 'admitted' : 'refused',
      states,
      violated: violated.map(({ charge }) => charge.policy),
      shadowRefusals: misfits.filter(({ charge }) => !charge.enforce).map(({ charge }) => charge.policy),
      waitMs: Math.max(0, ...violated.map(({ waitMs }) => waitMs)),
      decidedAtMs: atMs,
    };
  }

  return { decide, admissionsOf: log.admissionsOf };
}

/** The most units that any span of the window's length saw. */
export function busiestSpan(admissions: readonly Pick<Admission, 'atMs' | 'cost'>[], windowMs: number): number {
  const sums = admissions.map(({ atMs: endMs }) =>
    admissions.reduce((sum, { atMs, cost }) => sum + (atMs <= endMs && atMs > endMs - windowMs ? cost : 0), 0),
  );
  return Math.max(0, ...sums);
}
