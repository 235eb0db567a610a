// Measures the event-loop delay by how late a timer fires, four times a second, at no measurable cost. The histogram of perf_hooks samples
// fifty times as often, without more useful information.

const EVERY_MS = 250;

/** Reports the delay of the loop in milliseconds repeatedly until it is stopped. */
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
