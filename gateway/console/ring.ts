// Counts in slots of some seconds. Keeps the latest slots, in memory of a fixed size.

/** Length of one slot. */
export const SLOT_MS = 15_000;
/** A quarter of an hour. */
export const SLOTS = 60;

export interface Ring {
  add(slot: number, values: ArrayLike<number>): void;
  /** Clears the counts from one round ago; call it before counting in a slot. */
  clear(slot: number): void;
  /** Returns the counts of one slot as a live view. */
  at(slot: number): Uint32Array;
  /** Sums the slots from the first to the last, both included. */
  sum(from: number, to: number): Float64Array;
}

/** @param width number of counts per slot */
export function createRing(width: number): Ring {
  const cells = new Uint32Array(SLOTS * width);
  const at = (slot: number) => cells.subarray((slot % SLOTS) * width, (slot % SLOTS) * width + width);

  function addTo(target: Uint32Array | Float64Array, values: ArrayLike<number>): void {
    for (let index = 0; index < width; index += 1)
      target[index] = (target[index] as number) + (values[index] as number);
  }

  return {
    at,
    add: (slot, values) => addTo(at(slot), values),
    clear: (slot) => void at(slot).fill(0),
    sum(from, to) {
      const total = new Float64Array(width);
      for (let slot = from; slot <= to; slot += 1) addTo(total, at(slot));
      return total;
    },
  };
}
