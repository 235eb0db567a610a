// Pure: computes the delay before a dead worker is replaced. A worker that served for a while is replaced at once. The replacement of a
// worker that dies right after each start is delayed, because otherwise the machine would be busy with nothing but starts.

export interface BackOffRules {
  /** The time after which the death of a worker is not caused by its start. */
  readonly steadyMs: number;
  readonly firstMs: number;
  readonly longestMs: number;
}

export interface BackOff {
  /**
   * Returns the milliseconds to wait before the next start.
   *
   * @param servedMs how long the dead worker took requests; 0 if it never did
   */
  delayAfter(servedMs: number): number;
}

export function createBackOff({ steadyMs, firstMs, longestMs }: BackOffRules): BackOff {
  let early = 0;
  return {
    delayAfter(servedMs) {
      early = servedMs >= steadyMs ? 0 : early + 1;
      return early <= 1 ? 0 : Math.min(longestMs, firstMs * 2 ** (early - 2));
    },
  };
}
