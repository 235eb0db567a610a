// The thread that gives the client of an open loop its beat. Timers know whole milliseconds only: at ten requests per millisecond they
// would come in bursts, and answers would be late because of the client. A thread of its own can sleep for microseconds.

import { parentPort, workerData } from 'node:worker_threads';
import { createChance } from './statistics.ts';

const { perSecond, durationMs } = workerData as { readonly perSecond: number; readonly durationMs: number };
const neverWoken = new Int32Array(new SharedArrayBuffer(4));
const chance = createChance(1);
const endsAt = performance.now() + durationMs;
let dueAt = performance.now();
while (dueAt < endsAt) {
  // Callers that know nothing of each other: gaps are exponentially distributed (a Poisson process).
  dueAt += (-Math.log(1 - chance()) * 1000) / perSecond;
  const waitMs = dueAt - performance.now();
  if (waitMs > 0) Atomics.wait(neverWoken, 0, 0, waitMs);
  parentPort?.postMessage(undefined);
}
