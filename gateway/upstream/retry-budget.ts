// How many retries an upstream may be sent on top of its requests, so that a failure is not multiplied by those who repeat.

/** Retries that are always possible, however little is going on. */
const FLOOR_PER_SECOND = 3;
/** What requests and answers of better times may have left over, in retries. */
const SAVED_MAX = 100;

export interface RetryBudget {
  /** A request is sent for the first time. */
  request(): void;
  /** An answer came, whole. */
  answer(): void;
  /** Takes one retry out. False: there is none left. */
  take(): boolean;
  /**
   * The same for a request that was lost with its connection, as happens to one that goes out just when the upstream closes what was
   * idle. Paid by the answers that came before, so that an upstream that gives none is not asked more often for it.
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
    request() {
      if (saved < SAVED_MAX) saved += perRequest;
    },
    answer() {
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
