// Long work in slices, so that requests are served in between.

import { setImmediate as turn } from 'node:timers/promises';

const SLICE_MS = 5;

export type YieldToLoop = () => Promise<void> | undefined;

/** To be called between small pieces of work: lets the event loop take a turn once a slice of time is used up. */
export function createYieldToLoop(): YieldToLoop {
  let startedAt = performance.now();
  async function giveWay(): Promise<void> {
    await turn();
    startedAt = performance.now();
  }
  return () => (performance.now() - startedAt < SLICE_MS ? undefined : giveWay());
}
