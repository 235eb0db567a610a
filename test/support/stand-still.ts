// A process that stands still, as on a busy machine: meanwhile timers expire, and bytes arrive in its sockets.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Occupies the event loop. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Returns two ends of a connection in this process. */
export async function createConnected(): Promise<{ readonly near: Socket; readonly far: Socket; close(): void }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const near = connect(port, '127.0.0.1').on('error', () => undefined);
  const [[far]] = (await Promise.all([once(server, 'connection'), once(near, 'connect')])) as [[Socket], unknown];
  far.on('error', () => undefined);
  const close = () => {
    near.destroy();
    far.destroy();
    server.close();
  };
  return { near, far, close };
}

interface RunningClock {
  /** Returns the milliseconds since the start, without times in which this process stood still. */
  ms(): number;
  stop(): void;
}

const TICK_MS = 10;
/** A tick that is later than this shows that the process stood still. */
const LATE_TICK_MS = 50;

/** Starts a clock that leaves out times in which this process stood still, because promises about time are for running processes. */
export function startRunningClock(): RunningClock {
  let ranMs = 0;
  let tickedAt = performance.now();
  const sinceTick = () => Math.min(LATE_TICK_MS, performance.now() - tickedAt);
  const timer = setInterval(() => {
    ranMs += sinceTick();
    tickedAt = performance.now();
  }, TICK_MS).unref();
  return { ms: () => ranMs + sinceTick(), stop: () => clearInterval(timer) };
}
