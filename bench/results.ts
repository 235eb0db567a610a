// Pure: from samples to rows, and from rows to the promises of the project.

import type { Sample } from './measure.ts';
import { type Interval, median, medianInterval, round, spread } from './statistics.ts';

/** All started at once and measured in turn, or each started anew for each of its measurements. */
export type Manner = 'in turn' | 'anew';

export interface Result {
  readonly manner: Manner;
  readonly scenario: string;
  readonly id: string;
  readonly contestant: string;
  readonly cpuMicros: number;
  readonly cpuSpread: string;
  /** Nothing where the floor does not take part. */
  readonly timesFloor: number | undefined;
  /** Holds the median of the ratios, which `timesFloor` estimates. */
  readonly timesFloorInterval: Interval | undefined;
  readonly perSecond: number;
  readonly perSecondSpread: string;
  readonly busyPercent: number;
  readonly addedP50Ms: number | undefined;
  readonly addedP50Spread: string | undefined;
  readonly addedP99Ms: number | undefined;
  readonly addedP99Spread: string | undefined;
  /** Of its whole life so far, its start included; anew: the greatest of its lives. */
  readonly peakMiB: number;
}

export interface Taken {
  readonly id: string;
  readonly contestant: string;
  readonly samples: readonly Sample[];
  readonly peakBytes: number;
}

/** One result for each contestant; the first is the floor, if that takes part. */
export function resultsOf(manner: Manner, scenario: string, taken: readonly Taken[], hasFloor: boolean): Result[] {
  const first = taken[0]?.samples ?? [];
  return taken.map(({ id, contestant, samples, peakBytes }) => {
    const micros = samples.map(({ cpuMicros }) => cpuMicros);
    const perSecond = samples.map((sample) => sample.perSecond);
    const added = samples.flatMap((sample) => sample.added ?? []);
    const p50 = added.map(({ p50Ms }) => p50Ms);
    const p99 = added.map(({ p99Ms }) => p99Ms);
    // Round by round, so that a disturbance of the machine affects both sides.
    const ratios = micros.map((own, index) => own / (first[index]?.cpuMicros ?? own));
    const hasAdded = added.length > 0;
    return {
      manner,
      scenario,
      id,
      contestant,
      cpuMicros: round(median(micros), 1),
      cpuSpread: spread(micros, 1),
      timesFloor: hasFloor ? round(median(ratios), 3) : undefined,
      timesFloorInterval: hasFloor ? medianInterval(ratios) : undefined,
      perSecond: Math.round(median(perSecond)),
      perSecondSpread: spread(perSecond, 0),
      busyPercent: Math.round(median(samples.map(({ busy }) => busy)) * 100),
      addedP50Ms: hasAdded ? round(median(p50), 2) : undefined,
      addedP50Spread: hasAdded ? spread(p50, 2) : undefined,
      addedP99Ms: hasAdded ? round(median(p99), 2) : undefined,
      addedP99Spread: hasAdded ? spread(p99, 2) : undefined,
      peakMiB: Math.round(peakBytes / 2 ** 20),
    };
  });
}
