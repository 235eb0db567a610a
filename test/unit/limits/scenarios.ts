// Arbitrary traffic for the property tests: few subjects, low limits, mixed costs, several limits on one request, and a
// clock that sometimes goes back.

import fc from 'fast-check';
import type { Charge } from '../../../gateway/limits/counters/counter-store.ts';

export const START_MS = 1_795_190_400_000;

/** Factor for the runs of property tests about limits: `test:full` runs more. */
export const LIMIT_RUNS = Number(process.env.LIMIT_RUNS ?? 1);

export function charge(options: Partial<Charge> & { readonly counter: string }): Charge {
  const { windowSeconds = 60 } = options;
  const plain = { policy: 'organization', requests: 100, cost: 1, enforce: true };
  return { ...plain, windowSeconds, windowMs: windowSeconds * 1000, ...options };
}

export interface Step {
  /** Before the step; negative: the clock is set back. */
  readonly advanceMs: number;
  readonly requests: readonly (readonly Charge[])[];
}

export interface Scenario {
  readonly limits: readonly Charge[];
  readonly steps: readonly Step[];
}

const limit = (policy: string) =>
  fc
    .record({
      requests: fc.integer({ min: 1, max: 20 }),
      windowSeconds: fc.integer({ min: 20, max: 90 }),
      enforce: fc.boolean(),
    })
    .map((rule) => charge({ ...rule, counter: policy, policy }));

/** In tenths of a second, so that decisions often fall on the very end of a window or of an entry. */
const tenths = (min: number, max: number) => fc.integer({ min: min / 100, max: max / 100 }).map((count) => count * 100);

const advance = (setBackMs: number) =>
  fc.oneof(
    { weight: 6, arbitrary: tenths(0, 900) },
    { weight: 3, arbitrary: tenths(0, 30_000) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 30_000 }) },
    { weight: 1, arbitrary: tenths(-setBackMs, 0) },
  );

/** Counters are named after the scenario's own tag, so that scenarios share nothing in a store that outlives them. */
export function scenarios(tagOf: () => string, setBackMs: number): fc.Arbitrary<Scenario> {
  return fc
    .tuple(
      limit('organization').map((rule) => ({ ...rule, enforce: true })),
      limit('writes'),
      limit('exports'),
    )
    .chain((rules) => {
      const tag = tagOf();
      const limits = rules.map((rule) => ({ ...rule, counter: `rl:{${tag}}:${rule.policy}` }));
      const request = fc
        .record({ cost: fc.integer({ min: 0, max: 6 }), chosen: fc.subarray([0, 1, 2], { minLength: 1 }) })
        .map(({ cost, chosen }) => chosen.map((index) => ({ ...(limits[index] as Charge), cost })));
      const step = fc.record({
        advanceMs: advance(setBackMs),
        requests: fc.array(request, { minLength: 1, maxLength: 6 }),
      });
      return fc.record({ limits: fc.constant(limits), steps: fc.array(step, { minLength: 1, maxLength: 40 }) });
    });
}

const gaps = (max: number) => fc.integer({ min: 0, max });

/** Gaps between many admissions, in milliseconds: bursts, crowds and rests, of which a window keeps more than it has entries for. */
export const crowds = fc
  .array(
    fc.tuple(
      fc.oneof(gaps(30_000), gaps(100)),
      fc.oneof(gaps(2), gaps(40), gaps(700)).chain((usual) => fc.array(gaps(usual), { minLength: 50, maxLength: 400 })),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((crowd) => crowd.flatMap(([rest, within]) => [rest, ...within]));
