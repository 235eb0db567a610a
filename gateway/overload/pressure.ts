// Measures the event-loop delay, and decides whether the process is overloaded. It takes several samples to start an overload, and several
// to end it, so that one long task does not start an overload and one quiet moment does not end it.

/** An overload begins after this many samples in a row at or above the bound. */
const BEGINS_AFTER = 3;
/** It ends after this many samples in a row below half of the bound. */
const ENDS_AFTER = 4;
/** Share of requests of known callers that are admitted at first. */
const FIRST_SHARE = 0.5;
const LEAST_SHARE = 0.05;

interface Pressure {
  /** Takes a sample: the delay of the loop, in milliseconds. */
  sample(lateMs: number): void;
  isHigh(): boolean;
  /**
   * Returns whether to admit the next request of a known caller during an overload. The admitted share shrinks while the delay stays high,
   * and grows when the delay falls.
   */
  letsIn(): boolean;
  /** Returns the last sample, in milliseconds. */
  lateMs(): number;
}

/** Creates the measurement. @param loopDelayMs returns the bound; called at each sample */
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

const PROBE_EVERY_MS = 250;

/** Reports the delay of the loop in milliseconds repeatedly until it is stopped. */
export type LoopProbe = (onSample: (lateMs: number) => void) => { stop(): void };

/**
 * Measures the delay by how late a timer fires, four times a second, at no measurable cost. The histogram of perf_hooks samples fifty times
 * as often, without more useful information.
 */
export const probeLoop: LoopProbe = (onSample) => {
  let dueAtMs = performance.now() + PROBE_EVERY_MS;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    onSample(Math.max(0, nowMs - dueAtMs));
    dueAtMs = nowMs + PROBE_EVERY_MS;
  }, PROBE_EVERY_MS).unref();
  return { stop: () => clearInterval(timer) };
};
