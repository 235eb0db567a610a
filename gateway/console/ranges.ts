// The periods that the console can show, and the resolutions in which counts are kept for them.

/** Each resolution keeps its latest slots. The first one is the finest. */
export const RESOLUTIONS = [
  { slotMs: 15_000, slots: 60 },
  { slotMs: 60_000, slots: 60 },
  { slotMs: 300_000, slots: 288 },
] as const;

/** Resolution and number of slots by range. */
export const RANGES = {
  '15m': { resolution: 0, slots: 60 },
  '1h': { resolution: 1, slots: 60 },
  '6h': { resolution: 2, slots: 72 },
  '24h': { resolution: 2, slots: 288 },
} as const;

export type Range = keyof typeof RANGES;

/** Returns the range of this name; the shortest for any other name. */
export function rangeOf(name: string | null): Range {
  return name !== null && Object.hasOwn(RANGES, name) ? (name as Range) : '15m';
}
