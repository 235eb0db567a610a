// Draws a chart: its axes, its markers and its values. Returns the positions by which the pointer finds a slot.

import { drawn } from './elements.js';
import { clock, clockWithSeconds } from './format.js';
import { timeTicks } from './scale.js';

export const HEIGHT = 230;
/**
 * Markers: a line for a moment, a band for an outage, a strip for a warning, and hatching where nothing was counted. A missing instance is a
 * line at its time, because it may be missing for an hour, in which the charts of the other instances must stay readable.
 */
const SIGNS = { start: '▸', reload: '↻', refused: '✕', restart: '↺', outage: '▼', warning: '▲', uncounted: '▨' };
export const MARGIN = { top: 20, right: 14, bottom: 26, left: 56 };

/** Returns the number of slots with counts. */
export const slotsIn = (data) => data?.series[0]?.values.length ?? 0;

/** Draws a chart. Returns the positions of its slots. */
export function drawChart(svg, data, options, width, pattern) {
  const { fromMs, slotMs, slots, series, events, unfinished } = data;
  const right = width - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const endMs = fromMs + slotsIn(data) * slotMs;
  const beginMs = endMs - slots * slotMs;
  const ticks = options.ticksFor(series);
  const toX = (ms) => MARGIN.left + ((ms - beginMs) / (endMs - beginMs)) * (right - MARGIN.left);
  const toY = (value) => bottom - options.toPart(value, ticks) * (bottom - MARGIN.top);
  const slotX = (slot) => [toX(fromMs + slot * slotMs), toX(fromMs + (slot + 1) * slotMs)];
  const parts = [
    hatch(pattern),
    ...axes({ ticks: options.labelled?.(ticks) ?? ticks, toX, toY, right, bottom, beginMs, endMs }, options),
  ];
  const { tops, drawings } = options.draw(series, { slotX, toY, unfinished, pattern });
  parts.push(...marksIn(events, { beginMs, endMs, toX, top: MARGIN.top, bottom, pattern }).map((mark) => mark.drawing));
  parts.push(...drawings);
  parts.push(drawn('line', { class: 'axis', x1: MARGIN.left, x2: right, y1: bottom, y2: bottom }));
  if (!series.some(({ values }) => values.some((value) => value !== null && value > 0)))
    parts.push(text((MARGIN.left + right) / 2, HEIGHT / 2, 'No requests in this time', 'middle'));
  svg.setAttribute('width', width);
  svg.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`);
  svg.replaceChildren(...parts);
  const slotOf = (x) => Math.floor(((x - MARGIN.left) / (right - MARGIN.left)) * slots) - (slots - slotsIn(data));
  return {
    bottom,
    slotX,
    slotAt(x) {
      const slot = slotOf(x);
      return slot >= 0 && slot < slotsIn(data) ? slot : undefined;
    },
    /** The slot nearest to the position; undefined if the chart has no slots. */
    nearest: (x) => (slotsIn(data) === 0 ? undefined : Math.max(0, Math.min(slotsIn(data) - 1, slotOf(x)))),
    /** The series at a position; undefined if there is none. */
    hit: (slot, y) => tops?.[slot]?.find(({ from, to }) => y <= from && y >= to)?.name,
  };
}

/** Returns the lines and the texts of both axes. */
function axes({ ticks, toX, toY, right, bottom, beginMs, endMs }, options) {
  const parts = [];
  for (const tick of ticks) {
    parts.push(drawn('line', { class: 'grid', x1: MARGIN.left, x2: right, y1: toY(tick), y2: toY(tick) }));
    parts.push(text(MARGIN.left - 8, toY(tick) + 4, options.axisFormat(tick), 'end'));
  }
  for (const ms of timeTicks(beginMs, endMs, right - MARGIN.left)) {
    parts.push(drawn('line', { class: 'axis', x1: toX(ms), x2: toX(ms), y1: bottom, y2: bottom + 4 }));
    parts.push(text(Math.min(Math.max(toX(ms), MARGIN.left + 12), right - 8), bottom + 18, tickText(ms), 'middle'));
  }
  return parts;
}

const tickText = (ms) => (ms % 60_000 === 0 ? clock(ms) : clockWithSeconds(ms));

/** Makes stripes, by which a reader who sees no colours can distinguish the columns. */
function hatch(id) {
  const stripe = drawn('path', { d: 'M0 6L6 0M-1 1L1 -1M5 7L7 5', class: 'stripe' });
  const pattern = drawn('pattern', { id, width: 6, height: 6, patternUnits: 'userSpaceOnUse' }, stripe);
  return drawn('defs', {}, pattern);
}

function text(x, y, content, anchor) {
  return drawn('text', { x, y, 'text-anchor': anchor }, content);
}

/** Returns the events within a span, each with its drawing if the frame of a chart is given. */
export function marksIn(events, { beginMs, endMs, toX, ...frame }) {
  return events.flatMap((event) => {
    const at = Date.parse(event.at);
    const until = event.about?.topic === 'instance' ? at : event.until === null ? endMs : Date.parse(event.until);
    if (until < beginMs || at >= endMs) return [];
    return [{ event, drawing: toX && drawMark(event, toX(Math.max(at, beginMs)), toX(Math.min(until, endMs)), frame) }];
  });
}

function drawMark({ kind, text, instance }, from, to, { top, bottom, pattern }) {
  const where = instance === undefined ? '' : ` (${instance})`;
  const group = drawn('g', { class: `mark ${kind}` }, drawn('title', {}, text + where));
  const band = { x: from, y: top, width: Math.max(2, to - from), height: bottom - top };
  if (kind === 'outage' && from < to) group.append(drawn('rect', band));
  // A warning is a strip at the top, so that charts stay readable while several warnings last.
  else if (kind === 'warning') group.append(drawn('rect', { ...band, height: 3 }));
  else if (kind === 'uncounted')
    // The stripes have the colour of the paper.
    group.append(drawn('rect', { ...band, class: 'ground' }), drawn('rect', { ...band, fill: `url(#${pattern})` }));
  else group.append(drawn('line', { x1: from, x2: from, y1: top, y2: bottom }));
  group.append(drawn('text', { x: from, y: top - 6 }, signOf(kind)));
  return group;
}

/** Returns the sign of a kind of events. */
export const signOf = (kind) => SIGNS[kind] ?? '•';
