// Pure: derives from the event-loop delay whether the process is overloaded. Several samples start an overload and several end it, so that
// one long task does not start it and one quiet moment does not end it.

/** An overload begins after this many samples in a row at or above the bound. */
const BEGINS_AFTER = 3;
/** It ends after this many samples in a row below half of the bound. */
const ENDS_AFTER = 4;
/** Share of requests of known callers that are admitted at first. */
const FIRST_SHARE = 0.5;
const LEAST_SHARE = 0.05;

export interface Pressure {
  /** Takes the delay of the loop, milliseconds. */
  sample(lateMs: number): void;
  isHigh(): boolean;
  /**
   * During an overload: whether to admit the next request of a known caller. The admitted share shrinks while the delay stays high, and
   * grows when it falls.
   */
  letsIn(): boolean;
  /** The last sample, in milliseconds. */
  lateMs(): number;
}

/** @param loopDelayMs the bound; read at each sample */
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
