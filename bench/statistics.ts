// Pure: the few numbers that a row of a table is made of.

/** Of an even number of them, the mean of the two in the middle; 0 of none. */
export function median(numbers: readonly number[]): number {
  const ascending = [...numbers].sort((a, b) => a - b);
  const middle = ascending.length / 2;
  return ((ascending[Math.ceil(middle) - 1] ?? 0) + (ascending[Math.floor(middle)] ?? 0)) / 2;
}

/** Of numbers in ascending order; 0 of none. */
export function percentile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? 0;
}

export function round(number: number, digits: number): number {
  return Number(number.toFixed(digits));
}

/** The least and the greatest of them. */
export function spread(numbers: readonly number[], digits: number): string {
  return `${round(Math.min(...numbers), digits)}–${round(Math.max(...numbers), digits)}`;
}

export interface Interval {
  readonly low: number;
  readonly high: number;
  /** The probability that such an interval holds the median of the distribution of the numbers. */
  readonly confidence: number;
}

/**
 * The narrowest pair of order statistics, as far from one end as from the other, that holds the median of the distribution with at least
 * this probability, for any distribution. Of too few numbers it is the least and the greatest, with the probability that these have.
 */
export function medianInterval(numbers: readonly number[], confidence = 0.95): Interval {
  const ascending = [...numbers].sort((a, b) => a - b);
  const count = ascending.length;
  // The probability that at most `below` of the numbers are less than the median: the lower tail of a binomial distribution of one half.
  let term = 0.5 ** count;
  let tail = term;
  let below = 0;
  for (;;) {
    const nextTerm = (term * (count - below)) / (below + 1);
    if (1 - 2 * (tail + nextTerm) < confidence) break;
    below += 1;
    term = nextTerm;
    tail += term;
  }
  return {
    low: ascending[below] ?? 0,
    high: ascending[count - 1 - below] ?? 0,
    confidence: Math.max(0, 1 - 2 * tail),
  };
}

/** Pseudo-random numbers from 0 to 1 that are the same in every run (mulberry32). */
export function createChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
