// The thread that gives the client of an open loop its beat. Timers know whole milliseconds only: at ten requests per millisecond they
// would come in bursts, and answers would be late because of the client. A thread of its own can sleep for microseconds.

import { parentPort, workerData } from 'node:worker_threads';
import { createChance } from './statistics.ts';

const { perSecond, durationMs } = workerData as { readonly perSecond: number; readonly durationMs: number };
/**
 * What is due within this time is told at once, as a network card tells of packets: a message for each takes a tenth of the client's core.
 */
const REST_MS = 0.2;
const neverWoken = new Int32Array(new SharedArrayBuffer(4));
const chance = createChance(1);
const endsAt = performance.now() + durationMs;
let dueAt = performance.now();
while (dueAt < endsAt) {
  Atomics.wait(neverWoken, 0, 0, Math.max(dueAt - performance.now(), 0) + REST_MS);
  let beats = 0;
  // Callers that know nothing of each other: gaps are exponentially distributed (a Poisson process).
  for (const wokenAt = performance.now(); dueAt <= wokenAt && dueAt < endsAt; beats += 1) {
    dueAt += (-Math.log(1 - chance()) * 1000) / perSecond;
  }
  parentPort?.postMessage(beats);
}
