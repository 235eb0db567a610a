// Chance that is the same every time, so that every demonstration organization has the same data.

export interface Chance {
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  pick<Items extends readonly [unknown, ...unknown[]]>(items: Items): Items[number];
}

/** The generator mulberry32: small, fast, and good enough for plausible data. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  function fraction(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  const between = (low: number, high: number): number => low + Math.floor(fraction() * (high - low + 1));
  return { between, pick: (items) => items[between(0, items.length - 1)] ?? items[0] };
}
