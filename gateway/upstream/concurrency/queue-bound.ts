// Bounds the length of an upstream's queue. A burst may fill the queue, because the queue empties soon afterwards. A queue that has not
// been empty for `BURST_MAX_MS` shows that requests arrive faster than the upstream answers, so a long queue only adds latency. Such a
// queue is kept so short that its last request waits no longer than `queueMs`.

/** A queue that was not empty for this time is no longer treated as a burst. */
const BURST_MAX_MS = 500;
/** Interval of the rate measurement while requests wait. */
const MEASURED_EVERY_MS = 100;
/** Weight of a new measurement in the moving average. */
const WEIGHT = 0.3;
/**
 * The bound is at least this multiple of the places. With a shorter queue, a place that becomes free could find the queue empty, and would
 * stay unused until the next request arrives.
 */
const ROUNDS = 4;

export interface QueueBoundRules {
  /** Upper bound of the queue length. */
  readonly queuedMax: number;
  /** Longest wait, in milliseconds, of the last request in a queue that does not empty; undefined if only the deadline bounds the wait. */
  readonly queueMs: number | undefined;
}

/** The bound of one queue. All times are milliseconds of one clock. */
interface QueueBound {
  /** Call it when the queue is no longer empty. */
  begin(nowMs: number): void;
  /** Call it when a place was given back while requests wait; call `measure` next. */
  depart(): void;
  /** Measures the rate of departures, if the last measurement is old enough. */
  measure(nowMs: number): void;
  /** Returns the queue length that is permitted now. */
  allowedLength(nowMs: number, places: number, rules: QueueBoundRules): number;
  /** Returns the estimated time until this many waiting requests have been served; undefined before the first measurement. */
  waitMs(length: number): number | undefined;
}

export function createQueueBound(): QueueBound {
  let beganAtMs = 0;
  let measuredAtMs = 0;
  let departures = 0;
  let perMs = 0;

  function measure(nowMs: number): void {
    const elapsedMs = nowMs - measuredAtMs;
    if (elapsedMs < MEASURED_EVERY_MS) return;
    const measured = departures / elapsedMs;
    perMs = perMs === 0 ? measured : perMs + (measured - perMs) * WEIGHT;
    measuredAtMs = nowMs;
    departures = 0;
  }

  return {
    begin(nowMs) {
      beganAtMs = nowMs;
      measuredAtMs = nowMs;
      departures = 0;
    },
    depart() {
      departures += 1;
    },
    measure,
    allowedLength(nowMs, places, { queuedMax, queueMs }) {
      if (queueMs === undefined || nowMs - beganAtMs < BURST_MAX_MS) return queuedMax;
      measure(nowMs);
      return Math.min(queuedMax, Math.max(ROUNDS * places, Math.floor(perMs * queueMs)));
    },
    waitMs: (length) => (perMs === 0 ? undefined : length / perMs),
  };
}
