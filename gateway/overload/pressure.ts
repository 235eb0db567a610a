// Pure: whether the event loop has more to do than it can, from how late it is. It takes several samples to begin and several to end, so
// that one long task is no overload and one quiet moment no end of it.

/** So many samples in a row at the bound or above it begin it. */
const BEGINS_AFTER = 3;
/** So many in a row below half of the bound end it. */
const ENDS_AFTER = 4;
/** Of known callers, this part is let in at first. */
const FIRST_SHARE = 0.5;
const LEAST_SHARE = 0.05;

export interface Pressure {
  /** How late the loop was, in milliseconds. */
  sample(lateMs: number): void;
  isHigh(): boolean;
  /** While it is high: whether the next known caller is let in. Fewer are while it stays high, more when it falls. */
  letsIn(): boolean;
  /** The last sample, in milliseconds. */
  lateMs(): number;
}

/** @param loopDelayMs the bound; asked at each sample */
export function createPressure(loopDelayMs: () => number): Pressure {
  let latest = 0;
  let isHigh = false;
  let above = 0;
  let below = 0;
  let share = FIRST_SHARE;
  let credit = 0;

  function sampleWhileHigh(): void {
    if (above > 0) share = Math.max(LEAST_SHARE, share / 2);
    else if (below > 0) share = Math.min(1, share * 1.5);
    if (below >= ENDS_AFTER) isHigh = false;
  }

  return {
    sample(lateMs) {
      latest = lateMs;
      const bound = loopDelayMs();
      above = lateMs >= bound ? above + 1 : 0;
      below = lateMs < bound / 2 ? below + 1 : 0;
      if (isHigh) sampleWhileHigh();
      else if (above >= BEGINS_AFTER) {
        isHigh = true;
        share = FIRST_SHARE;
        credit = 0;
      }
    },
    isHigh: () => isHigh,
    letsIn() {
      credit += share;
      if (credit < 1) return false;
      credit -= 1;
      return true;
    },
    lateMs: () => latest,
  };
}
