// Counts in slots of equal length. Keeps the latest slots, in memory of a fixed size. A series has a ring for each resolution.

import { RESOLUTIONS } from './ranges.ts';

export interface Ring {
  /** All counts, in the order of the slots within a round. */
  readonly cells: Uint32Array<ArrayBuffer>;
  /** Counts of a slot. */
  readonly width: number;
  /** Adds counts to a slot. An instance of an earlier version counts fewer. */
  add(slot: number, values: ArrayLike<number>): void;
  /** Adds the counts of a slot to a total. */
  addTo(total: number[], slot: number): void;
  /** Clears the counts from one round ago; call it before counting in a slot. */
  clear(slot: number): void;
  /** Returns the counts of one slot as a live view. */
  at(slot: number): Uint32Array;
}

/** Rings of one series, one per resolution. */
export type SeriesRings = readonly Ring[];

/**
 * @param width number of counts per slot
 * @param slots number of slots that it keeps
 */
export function createRing(width: number, slots: number): Ring {
  const cells = new Uint32Array(slots * width);
  const at = (slot: number) => cells.subarray((slot % slots) * width, (slot % slots) * width + width);

  return {
    cells,
    width,
    at,
    addTo(total, slot) {
      const first = (slot % slots) * width;
      for (let index = 0; index < width; index += 1)
        total[index] = (total[index] as number) + (cells[first + index] as number);
    },
    add(slot, values) {
      const target = at(slot);
      for (let index = 0; index < width; index += 1) target[index] = (target[index] as number) + (values[index] ?? 0);
    },
    clear: (slot) => void at(slot).fill(0),
  };
}

export function createSeries(width: number): SeriesRings {
  return RESOLUTIONS.map(({ slots }) => createRing(width, slots));
}
