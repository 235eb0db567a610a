// Pure: how long to wait before a worker that died is replaced. One that served for a while is replaced at once; one that dies again and
// again as soon as it is there would otherwise keep the machine busy with nothing but starting.

export interface BackOffRules {
  /** Whoever served for so long has not died of its start. */
  readonly steadyMs: number;
  readonly firstMs: number;
  readonly longestMs: number;
}

export interface BackOff {
  /**
   * Milliseconds to wait before the next start.
   *
   * @param servedMs how long the one that died took requests; 0: it never did
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
