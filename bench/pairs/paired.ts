// Pure: from two sides that are measured pair by pair, such as two trees or the floor and the gateway, to how far they are apart.

import { type Interval, median, medianInterval } from '../statistics.ts';

export interface Pair {
  /** Of one quantity, such as CPU microseconds per request. */
  readonly baseline: number;
  readonly candidate: number;
}

export interface Comparison {
  readonly scenario: string;
  readonly pairs: readonly Pair[];
  /** Of the candidate, in terms of the baseline. */
  readonly medianRatio: number;
  readonly interval: Interval;
}

export const ratioOf = ({ baseline, candidate }: Pair): number => candidate / baseline;

/** The median of the ratios within each pair: a disturbance that lasts longer than a pair falls on both of its sides. */
export function compared(scenario: string, pairs: readonly Pair[]): Comparison {
  const ratios = pairs.map(ratioOf);
  return { scenario, pairs, medianRatio: median(ratios), interval: medianInterval(ratios) };
}

interface Difference {
  /** Of the candidate, above the baseline. */
  readonly median: number;
  readonly interval: Interval;
}

/** The median of the differences within each pair, for a quantity that the candidate adds to. */
export function differed(pairs: readonly Pair[]): Difference {
  const differences = pairs.map(({ baseline, candidate }) => candidate - baseline);
  return { median: median(differences), interval: medianInterval(differences) };
}

export type Side = keyof Pair;

/**
 * In which order a pair is measured. Each side comes once before and once after the other, so that a steady drift of the machine
 * cancels out; pairs begin with the one and with the other side in turn.
 */
export function orderOf(pair: number): readonly Side[] {
  return pair % 2 === 0
    ? ['baseline', 'candidate', 'candidate', 'baseline']
    : ['candidate', 'baseline', 'baseline', 'candidate'];
}

/** The cost of one side over all its slices, each as long as the others: requests count, not slices. */
export function costOf(slices: readonly { readonly cpuMicros: number; readonly perSecond: number }[]): number {
  const requests = slices.reduce((sum, { perSecond }) => sum + perSecond, 0);
  return slices.reduce((sum, { cpuMicros, perSecond }) => sum + cpuMicros * perSecond, 0) / requests;
}
