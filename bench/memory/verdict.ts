// Pure: compares the gateway's measured memory with its bound.

import { median, round, spread } from '../statistics.ts';

export interface Verdict {
  readonly what: string;
  readonly measured: string;
  readonly bound: string;
  readonly holds: boolean;
}

/** Decimal, as the bounds are. */
export function megabytes(bytes: number): string {
  return `${round(bytes / 1e6, 1)} MB`;
}

/** Growth below this does not count as growing. */
const GROWTH_MAX = 0.05;

/**
 * Whether memory stays as it is, from samples in the order of time: the first third is for caches and compilers to fill up; of the rest,
 * the second half may be a twentieth above the first. Halves are compared by their medians, since collections make memory go up and down.
 */
export function isFlat(what: string, bytes: readonly number[]): Verdict {
  const settled = bytes.slice(Math.ceil(bytes.length / 3));
  const middle = Math.floor(settled.length / 2);
  if (middle === 0) throw new Error(`${what}: too few samples to tell.`);
  const [early, late] = [median(settled.slice(0, middle)), median(settled.slice(middle))];
  const growth = late / early - 1;
  return {
    what,
    measured: `${megabytes(early)}, then ${megabytes(late)} (${round(growth * 100, 1)} %), at most ${megabytes(Math.max(...bytes))}`,
    bound: `at most ${GROWTH_MAX * 100} % more`,
    holds: growth <= GROWTH_MAX,
  };
}

export function isAtMost(what: string, bytes: number, bytesMax: number): Verdict {
  return { what, measured: megabytes(bytes), bound: `at most ${megabytes(bytesMax)}`, holds: bytes <= bytesMax };
}

/** The median of the ratios within each round, since the floor's memory differs from round to round too. */
export function isAtMostTimes(
  what: string,
  rounds: readonly { readonly floor: number; readonly gateway: number }[],
  timesMax: number,
): Verdict {
  const ratios = rounds.map(({ floor, gateway }) => gateway / floor);
  const times = median(ratios);
  const middle = (side: 'floor' | 'gateway') => megabytes(median(rounds.map((one) => one[side])));
  return {
    what,
    measured: `${middle('gateway')}, floor ${middle('floor')}: × ${round(times, 2)} (${spread(ratios, 2)} in ${rounds.length})`,
    bound: `at most × ${timesMax}`,
    holds: times <= timesMax,
  };
}
