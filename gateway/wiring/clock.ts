// A clock for spans of time, made of the system's clock, which somebody may set.

/**
 * Never goes back: when the given clock is set back, this one goes on from where it was. Otherwise everything that was noted would lie in
 * the future, and whoever waits for the end of a minute would wait for as long as the clock was set back. When the given clock is set
 * forward, so is this one: spans end early.
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
