// The two kinds of charts: columns that are stacked by status, and lines of durations; and small lines for tables.

import { drawn } from './elements.js';
import { duration, quantile, rate } from './format.js';
import { durationTicks, labelled, linearTicks } from './scale.js';

/** Requests per second: one column per slot. */
export const STACKED = {
  format: (value) => `${rate(value)}/s`,
  axisFormat: (value) => `${value}/s`,
  // An unfinished slot has no rate yet.
  lastSlot: (unfinished) => (unfinished > 0 ? -2 : -1),
  ticksFor: (series) => linearTicks(Math.max(...totals(series), 0) || 1),
  toPart: (value, ticks) => value / ticks.at(-1),
  draw(series, { slotX, toY, unfinished, pattern }) {
    const drawings = [];
    const tops = totals(series).map((_, slot) => {
      let below = 0;
      return series.flatMap(({ name, kind, values }) => {
        const value = values[slot];
        if (!value) return [];
        const [from, to] = [toY(below), Math.min(toY(below + value), toY(below) - 1)];
        below += value;
        const [x1, x2] = slotX(slot);
        const box = { x: x1 + 0.5, y: to, width: Math.max(1, x2 - x1 - 1), height: from - to };
        drawings.push(drawn('rect', { class: `column ${kind}${slot === unfinished ? ' partial' : ''}`, ...box }));
        if (kind === 'status-4') drawings.push(drawn('rect', { fill: `url(#${pattern})`, ...box }));
        return [{ name, from, to }];
      });
    });
    return { tops, drawings };
  },
};

/** Durations in milliseconds, on a logarithmic axis, because a timeout must not flatten everything else. */
export const DURATIONS = {
  format: quantile,
  axisFormat: duration,
  lastSlot: () => -1,
  labelled,
  ticksFor(series) {
    const values = series.flatMap((one) => one.values.filter((value) => value !== null));
    return durationTicks(Math.min(...values, 10_000), Math.max(...values, 0));
  },
  toPart(value, ticks) {
    const [least, most] = [ticks[0], ticks.at(-1)];
    return Math.max(0, Math.min(1, Math.log(Math.max(value, least) / least) / Math.log(most / least)));
  },
  draw(series, { slotX, toY, unfinished }) {
    const drawings = series.flatMap(({ kind, values, few }) => {
      const points = values.map((value, slot) =>
        value === null ? null : [(slotX(slot)[0] + slotX(slot)[1]) / 2, toY(value)],
      );
      // The slot that is still in progress is pale, too, as in the columns.
      const isFew = (slot) => few[slot] === true || (slot === unfinished && points[slot] != null);
      const isFirm = (slot) => points[slot] != null && !isFew(slot);
      // A single point beside pale points is pale, too, because a dot would draw the eye.
      const isDot = (slot) => !isFirm(slot - 1) && !isFirm(slot + 1) && (isFew(slot - 1) || isFew(slot + 1));
      const firm = points.map((point, slot) => (isFirm(slot) && !isDot(slot) ? point : null));
      // The pale line includes the neighbours, so it meets the other line.
      const pale = points.map((point, slot) => (isFew(slot - 1) || isFew(slot) || isFew(slot + 1) ? point : null));
      return [line(`${kind} pale`, pale), line(kind, firm)].flat();
    });
    return { drawings };
  },
};

/** Draws a line through the points; nothing if there is no point. */
function line(kind, points) {
  const d = pathOf(points);
  const alone = points.filter((point, at) => point !== null && points[at - 1] == null && points[at + 1] == null);
  const dots = alone.map(([cx, cy]) => drawn('circle', { class: `dot ${kind}`, cx, cy, r: 2.5 }));
  return d === '' ? [] : [drawn('path', { class: `line ${kind}`, d }), ...dots];
}

function totals(series) {
  const slots = series[0]?.values.length ?? 0;
  return Array.from({ length: slots }, (_, slot) => series.reduce((sum, { values }) => sum + (values[slot] ?? 0), 0));
}

/** Returns the path of a line. A single point becomes a dot: a line of no length with round ends. */
function pathOf(points) {
  return points
    .map((point, index) => {
      if (point === null) return '';
      const [x, y] = point.map((one) => one.toFixed(1));
      const begins = points[index - 1] == null;
      const alone = begins && points[index + 1] == null;
      return `${begins ? 'M' : 'L'}${x} ${y}${alone ? 'h0.1' : ''}`;
    })
    .join('');
}

/** Draws a line without axes, because the page shows the numbers beside it. */
export function sparkline(values, slots) {
  const width = 110;
  const height = 22;
  const greatest = Math.max(1e-9, ...values.map((value) => value ?? 0));
  const points = values.map((value, index) =>
    value === null
      ? null
      : [width - ((values.length - 1 - index) / (slots - 1)) * width, height - 2 - (value / greatest) * (height - 4)],
  );
  const path = drawn('path', { class: 'line p50', d: pathOf(points) });
  const attributes = {
    class: 'spark',
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    preserveAspectRatio: 'none',
    'aria-hidden': 'true',
  };
  return drawn('svg', attributes, drawn('path', { class: 'grid', d: `M0 ${height - 1}H${width}` }), path);
}
