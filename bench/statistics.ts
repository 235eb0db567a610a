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
