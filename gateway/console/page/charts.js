// Charts over time: stacked columns or lines, with markers. A time is chosen with the pointer or the arrow keys. Its values are shown
// beside it, and Enter or a click opens its requests. Dragging, or Shift with the arrow keys, selects a longer time, which the charts then
// show alone. A sentence and, on demand, a table describe the contents of a chart.

import { marksIn } from './chart-marks.js';
import { drawn, element } from './elements.js';
import { clock, clockWithSeconds } from './format.js';
import { timeTicks } from './scale.js';

let charts = 0;

/** The hint for the pointer. A finger cannot drag, because dragging moves the page. */
const HINT = matchMedia('(pointer: coarse)').matches ? 'Tap: list requests' : 'Click: list requests. Drag: zoom in';
const HEIGHT = 230;
const MARGIN = { top: 20, right: 14, bottom: 26, left: 56 };

/**
 * @param options.title the heading
 * @param options.format a value as text, with its unit; `axisFormat` the same on the axis
 * @param options.lastSlot which value is the last that says something, as `at` takes it, for the unfinished slot
 * @param options.ticksFor the values of the axis for the greatest and the least value; `toPart` the place of a value among them, from 0 to 1
 * @param options.draw adds the values: takes the series, the positions and the parts of the drawing
 * @param options.onChoose opens the requests of a slot: its number, and the series that was hit
 * @param options.onZoom shows the time from one slot to another alone
 * @param options.onPoint is told which slot is chosen, or none
 * @returns `show(data)` draws, `point(slot)` shows the values of a slot that is chosen elsewhere
 */
export function createChart(container, options) {
  const { title } = options;
  const svg = drawn('svg', { class: 'chart', role: 'img', height: HEIGHT });
  const cursor = element('div', {
    class: 'cursor',
    role: 'slider',
    tabindex: '0',
    'aria-label': `${title}: choose a time`,
  });
  const tip = element('div', { class: 'tip', hidden: '' });
  const unit = element('span', { class: 'soft' });
  const heading = element('h3', {}, `${title} `, unit);
  const legend = element('ul', { class: 'legend' });
  const scroller = element('div', {
    ...{ class: 'scroller low', role: 'region', tabindex: '0', 'aria-label': `${title}, as a table` },
  });
  const details = element('details', {}, element('summary', {}, 'As a table'), scroller);
  charts += 1;
  // A pattern of a chart that is hidden would draw nothing.
  const pattern = `hatch-${charts}`;
  const plot = element('div', { class: 'plot' }, svg, cursor, tip);
  container.replaceChildren(heading, legend, plot, details);
  let shown;
  let placed;
  let chosen;
  /** Where a selection of several slots began. */
  let anchor;

  function show() {
    if (shown === undefined || plot.clientWidth === 0) return;
    placed = draw(svg, shown, options, plot.clientWidth, pattern);
    unit.textContent = shown.unit;
    legend.replaceChildren(...shown.series.map((series) => keyOf(series, shown, options)));
    svg.setAttribute('aria-label', sentenceOf(title, shown, options));
    void showTable();
    const last = slotsIn(shown) - 1;
    cursor.setAttribute('aria-valuemin', '0');
    cursor.setAttribute('aria-valuemax', String(Math.max(0, last)));
    point(chosen === undefined ? undefined : Math.min(chosen, last));
  }

  async function showTable() {
    if (!details.open || shown === undefined) return;
    const { tableOf } = await import('./chart-table.js');
    scroller.replaceChildren(tableOf(title, shown, options.format));
  }

  function choose(slot) {
    point(slot);
    options.onPoint?.(slot);
  }

  /** Shows the values of a slot, or none. */
  function point(slot) {
    if (shown === undefined || placed === undefined) return;
    chosen = slot;
    const at = slot ?? Math.max(0, slotsIn(shown) - 1);
    cursor.setAttribute('aria-valuenow', String(at));
    cursor.setAttribute('aria-valuetext', linesOf(shown, at, options).join('; '));
    tip.hidden = slot === undefined || slotsIn(shown) === 0;
    svg.querySelector('.chosen')?.remove();
    if (tip.hidden) return;
    const [first, last] = selected(at);
    const from = placed.slotX(first)[0];
    const to = placed.slotX(last)[1];
    svg.append(
      drawn('rect', { class: 'chosen', x: from, y: MARGIN.top, width: to - from, height: placed.bottom - MARGIN.top }),
    );
    const [time, ...values] = first === last ? linesOf(shown, at, options) : [spanText(first, last)];
    const hint = first === last ? HINT : 'Release to zoom in';
    tip.replaceChildren(
      element('strong', {}, time),
      ...values.map((line) => element('span', {}, line)),
      element('span', { class: 'soft hint' }, hint),
    );
    // Its edge is that of the slot, on the side with more room.
    const isRight = from > plot.clientWidth / 2;
    tip.style.left = isRight ? 'auto' : `${from}px`;
    tip.style.right = isRight ? `${plot.clientWidth - to}px` : 'auto';
  }

  const selected = (at) => [Math.min(anchor ?? at, at), Math.max(anchor ?? at, at)];

  function spanText(first, last) {
    const { fromMs, slotMs } = shown;
    return `${clockWithSeconds(fromMs + first * slotMs)} to ${clockWithSeconds(fromMs + (last + 1) * slotMs)}`;
  }

  function endSelection() {
    const span = anchor === undefined || chosen === undefined ? undefined : selected(chosen);
    anchor = undefined;
    if (span === undefined || span[0] === span[1]) return false;
    choose(undefined);
    options.onZoom(...span);
    return true;
  }

  let zoomed = false;
  cursor.addEventListener('pointerdown', (event) => {
    zoomed = false;
    anchor = event.button === 0 && event.pointerType !== 'touch' ? placed?.nearest(event.offsetX) : undefined;
    if (anchor !== undefined) cursor.setPointerCapture(event.pointerId);
  });
  cursor.addEventListener('pointermove', ({ offsetX }) =>
    choose(anchor === undefined ? placed?.slotAt(offsetX) : placed?.nearest(offsetX)),
  );
  cursor.addEventListener('pointerup', () => {
    zoomed = endSelection();
  });
  cursor.addEventListener('pointercancel', () => {
    anchor = undefined;
  });
  cursor.addEventListener('pointerleave', () => {
    if (anchor === undefined) choose(undefined);
  });
  cursor.addEventListener('focus', () => choose(chosen ?? slotsIn(shown) - 1));
  cursor.addEventListener('blur', () => {
    anchor = undefined;
    choose(undefined);
  });
  cursor.addEventListener('click', ({ offsetX, offsetY }) => {
    const slot = placed?.slotAt(offsetX);
    if (slot !== undefined && !zoomed) options.onChoose(slot, placed.hit(slot, offsetY));
  });
  cursor.addEventListener('keydown', (event) => {
    const last = slotsIn(shown) - 1;
    const moves = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -last, End: last };
    if (event.key === 'Escape') {
      anchor = undefined;
      choose(undefined);
    } else if (event.key === 'Enter') {
      if (!endSelection()) options.onChoose(chosen ?? last);
    } else if (event.key in moves) {
      anchor = event.shiftKey ? (anchor ?? chosen ?? last) : undefined;
      choose(Math.max(0, Math.min(last, (chosen ?? last) + moves[event.key])));
    } else return;
    event.preventDefault();
  });
  details.addEventListener('toggle', () => void showTable());
  new ResizeObserver(show).observe(container);

  /**
   * Takes `of` (the subject of the chart; empty: all operations), `unit`, `fromMs`, `slotMs`, `slots` (the number of the whole range),
   * `series` (each with a name, a kind and one value per slot, or null), `unfinished` (the slot that may still
   * increase, if there is one), `events` and `notes` (further lines for a slot).
   */
  function showData(data) {
    shown = data;
    show();
  }

  return { show: showData, point };
}

const slotsIn = (data) => data?.series[0]?.values.length ?? 0;

function draw(svg, data, options, width, pattern) {
  const { fromMs, slotMs, slots, series, events, unfinished } = data;
  const right = width - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const endMs = fromMs + slotsIn(data) * slotMs;
  const beginMs = endMs - slots * slotMs;
  const ticks = options.ticksFor(series);
  const toX = (ms) => MARGIN.left + ((ms - beginMs) / (endMs - beginMs)) * (right - MARGIN.left);
  const toY = (value) => bottom - options.toPart(value, ticks) * (bottom - MARGIN.top);
  const slotX = (slot) => [toX(fromMs + slot * slotMs), toX(fromMs + (slot + 1) * slotMs)];
  const parts = [hatch(pattern)];
  for (const tick of options.labelled?.(ticks) ?? ticks) {
    parts.push(drawn('line', { class: 'grid', x1: MARGIN.left, x2: right, y1: toY(tick), y2: toY(tick) }));
    parts.push(text(MARGIN.left - 8, toY(tick) + 4, options.axisFormat(tick), 'end'));
  }
  for (const ms of timeTicks(beginMs, endMs, right - MARGIN.left)) {
    parts.push(drawn('line', { class: 'axis', x1: toX(ms), x2: toX(ms), y1: bottom, y2: bottom + 4 }));
    parts.push(text(Math.min(Math.max(toX(ms), MARGIN.left + 12), right - 8), bottom + 18, tickText(ms), 'middle'));
  }
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
    /** The slot nearest to the place; undefined if the chart has no slots. */
    nearest: (x) => (slotsIn(data) === 0 ? undefined : Math.max(0, Math.min(slotsIn(data) - 1, slotOf(x)))),
    /** The series at a place; undefined: none. */
    hit: (slot, y) => tops?.[slot]?.find(({ from, to }) => y <= from && y >= to)?.name,
  };
}

const tickText = (ms) => (ms % 60_000 === 0 ? clock(ms) : clockWithSeconds(ms));

/** A series in the legend, with its last value. */
function keyOf({ name, kind, values }, { unfinished }, { format, lastSlot }) {
  const value = values.at(lastSlot(unfinished));
  const last = value == null ? [] : [' ', element('span', { class: 'soft' }, format(value))];
  return element('li', { class: `key ${kind}` }, name, ...last);
}

/** Stripes, by which a reader who sees no colours can tell the columns apart. */
function hatch(id) {
  const stripe = drawn('path', { d: 'M0 6L6 0M-1 1L1 -1M5 7L7 5', class: 'stripe' });
  const pattern = drawn('pattern', { id, width: 6, height: 6, patternUnits: 'userSpaceOnUse' }, stripe);
  return drawn('defs', {}, pattern);
}

function text(x, y, content, anchor) {
  return drawn('text', { x, y, 'text-anchor': anchor }, content);
}

/** The time of a slot, its values, and what happened in it. */
function linesOf(data, slot, { format }) {
  if (data === undefined || slotsIn(data) === 0) return ['No requests'];
  const { fromMs, slotMs, series, events, notes } = data;
  const from = fromMs + slot * slotMs;
  const happened = marksIn(events, { beginMs: from, endMs: from + slotMs }).map(({ event }) => event.text);
  return [
    `${clockWithSeconds(from)} to ${clockWithSeconds(from + slotMs)}`,
    ...series.map(({ name, values }) => `${name}: ${values[slot] === null ? 'none' : format(values[slot])}`),
    ...notes(slot),
    ...happened,
  ];
}

function sentenceOf(title, { of, fromMs, slotMs, slots, endsNow, series, unfinished }, { format, lastSlot }) {
  const told = series.flatMap(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    if (known.length === 0) return [];
    const greatest = Math.max(...known);
    const at = clock(fromMs + values.indexOf(greatest) * slotMs);
    return [
      `${name}: last ${format(known.at(lastSlot(unfinished)) ?? known[0])}, highest ${format(greatest)} at ${at}`,
    ];
  });
  const minutes = (slots * slotMs) / 60_000;
  const length = minutes < 120 ? `${Number(minutes.toFixed(1))} minutes` : `${Number((minutes / 60).toFixed(1))} hours`;
  const span = endsNow ? `the last ${length}` : `${length} from ${clock(fromMs)}`;
  return `${title}${of === '' ? '' : ` of ${of}`} over ${span}. ${told.length > 0 ? `${told.join('; ')}.` : 'No requests.'}`;
}
