// Durations as people read them.

const MINUTE_MS = 60_000;

/** Two or three digits, in the largest unit that has one: `0.42 ms`, `62 ms`, `11.4 s`, `58 min`. */
export function durationText(ms: number): string {
  if (ms < 1) return `${Number(ms.toFixed(2))} ms`;
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 2 * MINUTE_MS) return `${Number((ms / 1000).toFixed(1))} s`;
  return ms < 120 * MINUTE_MS ? `${Math.round(ms / MINUTE_MS)} min` : `${Number((ms / MINUTE_MS / 60).toFixed(1))} h`;
}
