// Splits long work into slices. Requests are served in between.

import { setImmediate as turn } from 'node:timers/promises';

const SLICE_MS = 5;

export type YieldToLoop = () => Promise<void> | undefined;

/** Returns a function to call between small pieces of work. After 5 ms of work it lets the event loop run. */
export function createYieldToLoop(): YieldToLoop {
  let startedAt = performance.now();
  async function yieldNow(): Promise<void> {
    await turn();
    startedAt = performance.now();
  }
  return () => (performance.now() - startedAt < SLICE_MS ? undefined : yieldNow());
}
