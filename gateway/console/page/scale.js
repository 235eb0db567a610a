// Pure: positions and labels on the axes of charts.

/** Values at even steps of 1, 2 or 5 (times a power of ten) from zero to at least the greatest. */
export function linearTicks(greatest) {
  const rough = Math.max(greatest, 1e-3) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((part) => part * power).find((one) => one >= rough * 0.999);
  const steps = Math.ceil(greatest / step - 1e-9);
  return Array.from({ length: Math.max(1, steps) + 1 }, (_, index) => Number((index * step).toPrecision(6)));
}

const DURATIONS_MS = [5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000];

/** From the first duration bucket, below which no detail is known, to the one above the greatest value; at least three. */
export function durationTicks(greatestMs) {
  const end = DURATIONS_MS.findIndex((one) => one >= greatestMs);
  return DURATIONS_MS.slice(0, Math.max(3, end === -1 ? DURATIONS_MS.length : end + 1));
}

/** Moves overlapping labels apart; `at` is the wanted position of each. */
export function spread(places, gap, from, to) {
  const order = places.map((place, index) => ({ place, index })).sort((one, other) => one.place - other.place);
  let least = from;
  for (const one of order) {
    one.place = Math.max(one.place, least);
    least = one.place + gap;
  }
  let most = to;
  for (const one of order.toReversed()) {
    one.place = Math.min(one.place, most);
    most = one.place - gap;
  }
  const result = [];
  for (const { place, index } of order) result[index] = place;
  return result;
}
