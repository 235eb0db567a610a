// A clock for measuring durations, derived from the system clock, which an administrator or NTP may set.

/**
 * Never goes back: when the given clock is set back, this clock goes on from its last value. Otherwise every recorded time would lie in the
 * future, and the end of a one-minute window would be delayed by the same amount. When the given clock is set forward, so is this clock:
 * windows end early.
 *
 * @param now epoch milliseconds
 */
export function createForwardClock(now: () => number): () => number {
  let aheadMs = 0;
  let last = Number.NEGATIVE_INFINITY;
  return function forwardNow() {
    const at = now() + aheadMs;
    if (at >= last) {
      last = at;
      return at;
    }
    aheadMs += last - at;
    return last;
  };
}
