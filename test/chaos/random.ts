// Chance that can be repeated: the same seed gives the same numbers.

export interface Random {
  /** From 0 to below 1. */
  next(): number;
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  pick<T>(list: readonly T[]): T;
  /** Another list of the same items. */
  shuffled<T>(list: readonly T[]): T[];
}

/** Mulberry32: 32 bits of state, and even enough for choosing a fault. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;

  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    pick: <T>(list: readonly T[]) => list[between(0, list.length - 1)] as T,
    shuffled<T>(list: readonly T[]) {
      const left = [...list];
      return list.map(() => left.splice(between(0, left.length - 1), 1)[0] as T);
    },
  };
}
