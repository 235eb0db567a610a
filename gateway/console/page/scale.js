// Pure: positions and labels on the axes of charts.

/** Returns values at even steps of 1, 2 or 5 (times a power of ten) from zero to at least the greatest. */
export function linearTicks(greatest) {
  const rough = Math.max(greatest, 1e-3) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((part) => part * power).find((one) => one >= rough * 0.999);
  const steps = Math.ceil(greatest / step - 1e-9);
  return Array.from({ length: Math.max(1, steps) + 1 }, (_, index) => Number((index * step).toPrecision(6)));
}

const DURATIONS_MS = [0.5, 1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 20_000];
const TICKS_MAX = 7;

/**
 * Bounds of duration buckets, from the one below the least value to the second one above the greatest, so that its line is not at the edge;
 * at least three. Below the first of them no detail is known, and above 10 s neither.
 */
export function durationTicks(leastMs, greatestMs) {
  const above = DURATIONS_MS.findIndex((one) => one >= greatestMs);
  const end = above === -1 ? DURATIONS_MS.length - 1 : Math.min(above + 1, DURATIONS_MS.length - 1);
  const below = DURATIONS_MS.findLastIndex((one) => one <= leastMs);
  const from = Math.max(0, Math.min(below, end - 2));
  return DURATIONS_MS.slice(from, Math.max(from + 3, end + 1));
}

/** Returns the ticks that get a label, which are few enough to read. */
export function labelled(ticks) {
  const every = Math.ceil(ticks.length / TICKS_MAX);
  return ticks.filter((_, index) => index % every === 0);
}

const STEPS_MS = [1 / 12, 1 / 4, 1 / 2, 1, 2, 3, 5, 10, 15, 30, 60, 120, 180, 240, 360].map(
  (minutes) => minutes * 60_000,
);
const LABEL_WIDTH = 70;

/** Returns round times of the reader's clock within a span, as many as the width has room for. */
export function timeTicks(fromMs, endMs, width) {
  const most = Math.max(2, Math.floor(width / LABEL_WIDTH));
  const step = STEPS_MS.find((one) => (endMs - fromMs) / one <= most) ?? STEPS_MS.at(-1);
  const offset = new Date(fromMs).getTimezoneOffset() * 60_000;
  const ticks = [];
  for (let ms = Math.ceil((fromMs - offset) / step) * step + offset; ms <= endMs; ms += step) ticks.push(ms);
  return ticks;
}
