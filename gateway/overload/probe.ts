// How late the event loop is: by how much a timer comes after its time. Four times a second, which costs nothing; the histogram of
// perf_hooks measures fifty times as often, and says nothing that is needed here.

const EVERY_MS = 250;

/** Tells how late the loop was, in milliseconds, again and again until it is stopped. */
export type LoopProbe = (onSample: (lateMs: number) => void) => { stop(): void };

export const probeLoop: LoopProbe = (onSample) => {
  let dueAtMs = performance.now() + EVERY_MS;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    onSample(Math.max(0, nowMs - dueAtMs));
    dueAtMs = nowMs + EVERY_MS;
  }, EVERY_MS).unref();
  return { stop: () => clearInterval(timer) };
};
