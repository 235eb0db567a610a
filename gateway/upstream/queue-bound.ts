// How long the line before an upstream may be. A burst may fill it, and is worked off; a line that does not empty is more than the upstream
// can do, and everybody in it only waits: it is kept as short as what the upstream works off in a moment.

/** A line that has not been empty for so long is no burst. */
const STANDS_AFTER_MS = 500;
/** How often the rate is measured while somebody waits. */
const MEASURED_EVERY_MS = 100;
/** What one measurement counts against those before. */
const WEIGHT = 0.3;
/** Of a slow upstream so many times its places may wait: fewer, and a place would be empty until the next one comes. */
const ROUNDS = 4;

export interface QueueBoundRules {
  /** Most requests that may ever wait. */
  readonly queuedMax: number;
  /** How long who comes last into a line that stands may have to wait; undefined: as long as its deadline allows. */
  readonly queueMs: number | undefined;
}

/** All times are those of one clock, in milliseconds. */
export interface QueueBound {
  /** Somebody waits where nobody did. */
  begin(nowMs: number): void;
  /** A place was given back while somebody waits. */
  depart(nowMs: number): void;
  /** How many may wait now. */
  allowed(nowMs: number, places: number, rules: QueueBoundRules): number;
  /** How long so many take to be worked off; undefined: nothing is known yet. */
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
    depart(nowMs) {
      departures += 1;
      measure(nowMs);
    },
    allowed(nowMs, places, { queuedMax, queueMs }) {
      if (queueMs === undefined || nowMs - beganAtMs < STANDS_AFTER_MS) return queuedMax;
      measure(nowMs);
      return Math.min(queuedMax, Math.max(ROUNDS * places, Math.floor(perMs * queueMs)));
    },
    waitMs: (length) => (perMs === 0 ? undefined : length / perMs),
  };
}
