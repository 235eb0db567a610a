// Limits the retries at an upstream to a share of its requests, because retries would multiply the load of a failing upstream.

/** Retries per second that are always allowed, even with little traffic. */
const FLOOR_PER_SECOND = 3;
/** Cap on the saved budget, in retries. */
const SAVED_MAX = 100;

export interface RetryBudget {
  /** Call it when a first attempt is sent. */
  noteRequest(): void;
  /** Call it when the upstream has answered with a status below 500. */
  noteAnswer(): void;
  /** Takes one retry from the budget. Returns false if the budget is spent. */
  take(): boolean;
  /**
   * Takes one retry for a request that was lost with its connection, because the upstream may have closed an idle connection at that
   * moment. Each answer pays for one such retry, so an upstream that does not answer gets no retry.
   */
  takeForLost(): boolean;
}

/**
 * @param percent retries per hundred requests
 * @param now monotonic milliseconds
 */
export function createRetryBudget(percent: number, now: () => number): RetryBudget {
  const perRequest = percent / 100;
  let saved = 0;
  let answers = 0;
  let floor = FLOOR_PER_SECOND;
  let floorAt = now();

  function take(): boolean {
    if (saved >= 1) {
      saved -= 1;
      return true;
    }
    const at = now();
    floor = Math.min(FLOOR_PER_SECOND, floor + ((at - floorAt) / 1000) * FLOOR_PER_SECOND);
    floorAt = at;
    if (floor < 1) return false;
    floor -= 1;
    return true;
  }

  return {
    noteRequest() {
      if (saved < SAVED_MAX) saved += perRequest;
    },
    noteAnswer() {
      if (answers < SAVED_MAX) answers += 1;
    },
    take,
    takeForLost() {
      if (answers < 1) return take();
      answers -= 1;
      return true;
    },
  };
}
