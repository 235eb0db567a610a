// Charts over time: stacked columns or lines, with markers. A time is chosen with the pointer or the arrow keys. Its values are shown
// beside it, and Enter or a click opens its requests. Dragging, or Shift with the arrow keys, selects a longer time, which the charts then
// show alone. A sentence and, on demand, a table describe the contents of a chart.

import { drawChart, HEIGHT, MARGIN, marksIn, slotsIn } from './chart-drawing.js';
import { drawn, element } from './elements.js';
import { clock, clockWithSeconds } from './format.js';

let charts = 0;

/** The hint for the pointer. A finger cannot drag, because dragging moves the page. */
const HINT = matchMedia('(pointer: coarse)').matches ? 'Tap: list requests' : 'Click: list requests. Drag: zoom in';

export class Chart {
  #options;
  /** The elements of the chart, by name. */
  #parts;
  /** The id of the hatching. Each chart has its own, because a pattern of a hidden chart would draw nothing. */
  #pattern;
  #shown;
  #placed;
  #chosen;
  /** The slot at which a selection of several slots started. */
  #anchor;
  #hasZoomed = false;

  /**
   * @param options.title the heading
   * @param options.format a value as text, with its unit; `axisFormat` the same on the axis
   * @param options.lastSlot which value is the last that says something, as `at` takes it, for the unfinished slot
   * @param options.ticksFor the values of the axis for the greatest and the least value; `toPart` the position of a value among them, from
   *   0 to 1
   * @param options.draw adds the values: takes the series, the positions and the parts of the drawing
   * @param options.onChoose opens the requests of a slot: its number, and the series that was hit
   * @param options.onZoom shows the time from one slot to another alone
   * @param options.onPoint is told which slot is chosen, or none
   */
  constructor(container, options) {
    charts += 1;
    this.#pattern = `hatch-${charts}`;
    this.#options = options;
    this.#parts = partsOf(options.title);
    const { heading, legend, plot, details } = this.#parts;
    container.replaceChildren(heading, legend, plot, details);
    this.#listenToPointer();
    this.#listenToKeys();
    details.addEventListener('toggle', () => void this.#showTable());
    new ResizeObserver(() => this.#draw()).observe(container);
  }

  /**
   * Takes `of` (the subject of the chart; empty: all operations), `unit`, `fromMs`, `slotMs`, `slots` (the number of the whole range),
   * `series` (each with a name, a kind and one value per slot, or null), `unfinished` (the slot that may still increase, if there is one),
   * `events` and `notes` (more lines for a slot).
   */
  show(data) {
    this.#shown = data;
    this.#draw();
  }

  /** Shows the values of a slot that is chosen here or elsewhere, or none. */
  point(slot) {
    if (this.#shown === undefined || this.#placed === undefined) return;
    const { svg, cursor, tip } = this.#parts;
    this.#chosen = slot;
    const at = slot ?? Math.max(0, this.#last());
    cursor.setAttribute('aria-valuenow', String(at));
    cursor.setAttribute('aria-valuetext', linesOf(this.#shown, at, this.#options).join('; '));
    tip.hidden = slot === undefined || slotsIn(this.#shown) === 0;
    svg.querySelector('.chosen')?.remove();
    if (!tip.hidden) this.#showTip(at);
  }

  #draw() {
    const { svg, cursor, legend, plot, unit } = this.#parts;
    const shown = this.#shown;
    if (shown === undefined || plot.clientWidth === 0) return;
    const { title } = this.#options;
    this.#placed = drawChart(svg, shown, this.#options, plot.clientWidth, this.#pattern);
    unit.textContent = shown.unit;
    legend.replaceChildren(...shown.series.map((series) => keyOf(series, shown, this.#options)));
    svg.setAttribute('aria-label', sentenceOf(title, shown, this.#options));
    void this.#showTable();
    cursor.setAttribute('aria-valuemin', '0');
    cursor.setAttribute('aria-valuemax', String(Math.max(0, this.#last())));
    this.point(this.#chosen === undefined ? undefined : Math.min(this.#chosen, this.#last()));
  }

  async #showTable() {
    const { details, scroller } = this.#parts;
    if (!details.open || this.#shown === undefined) return;
    const { tableOf } = await import('./chart-table.js');
    scroller.replaceChildren(tableOf(this.#options.title, this.#shown, this.#options.format));
  }

  #showTip(at) {
    const { svg, tip, plot } = this.#parts;
    const [first, last] = this.#selected(at);
    const x = this.#placed.slotX(first)[0];
    const right = this.#placed.slotX(last)[1];
    const height = this.#placed.bottom - MARGIN.top;
    svg.append(drawn('rect', { class: 'chosen', x, y: MARGIN.top, width: right - x, height }));
    const isOne = first === last;
    const [time, ...values] = isOne ? linesOf(this.#shown, at, this.#options) : [spanText(this.#shown, first, last)];
    tip.replaceChildren(
      element('strong', {}, time),
      ...values.map((line) => element('span', {}, line)),
      element('span', { class: 'soft hint' }, isOne ? HINT : 'Release to zoom in'),
    );
    // The edge of the tip is the edge of the slot, on the side with more room.
    const isRight = x > plot.clientWidth / 2;
    tip.style.left = isRight ? 'auto' : `${x}px`;
    tip.style.right = isRight ? `${plot.clientWidth - right}px` : 'auto';
  }

  #last() {
    return slotsIn(this.#shown) - 1;
  }

  #selected(at) {
    const anchor = this.#anchor ?? at;
    return [Math.min(anchor, at), Math.max(anchor, at)];
  }

  #choose(slot) {
    this.point(slot);
    this.#options.onPoint?.(slot);
  }

  /** Ends the selection and the choice of a slot. */
  #leave() {
    this.#anchor = undefined;
    this.#choose(undefined);
  }

  /** Ends a selection. Returns whether it had several slots, which are then shown alone. */
  #endSelection() {
    const span = this.#anchor === undefined || this.#chosen === undefined ? undefined : this.#selected(this.#chosen);
    this.#anchor = undefined;
    if (span === undefined || span[0] === span[1]) return false;
    this.#choose(undefined);
    this.#options.onZoom(...span);
    return true;
  }

  #listenToPointer() {
    const { cursor } = this.#parts;
    cursor.addEventListener('pointerdown', (event) => {
      this.#hasZoomed = false;
      const isDrag = event.button === 0 && event.pointerType !== 'touch';
      this.#anchor = isDrag ? this.#placed?.nearest(event.offsetX) : undefined;
      if (this.#anchor !== undefined) cursor.setPointerCapture(event.pointerId);
    });
    cursor.addEventListener('pointermove', ({ offsetX }) =>
      this.#choose(this.#anchor === undefined ? this.#placed?.slotAt(offsetX) : this.#placed?.nearest(offsetX)),
    );
    cursor.addEventListener('pointerup', () => {
      this.#hasZoomed = this.#endSelection();
    });
    cursor.addEventListener('pointercancel', () => {
      this.#anchor = undefined;
    });
    cursor.addEventListener('pointerleave', () => {
      if (this.#anchor === undefined) this.#choose(undefined);
    });
    cursor.addEventListener('click', ({ offsetX, offsetY }) => {
      const slot = this.#placed?.slotAt(offsetX);
      if (slot !== undefined && !this.#hasZoomed) this.#options.onChoose(slot, this.#placed.hit(slot, offsetY));
    });
  }

  #listenToKeys() {
    const { cursor } = this.#parts;
    cursor.addEventListener('focus', () => this.#choose(this.#chosen ?? this.#last()));
    cursor.addEventListener('blur', () => this.#leave());
    cursor.addEventListener('keydown', (event) => {
      const last = this.#last();
      const from = this.#chosen ?? last;
      const moves = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -last, End: last };
      if (event.key === 'Escape') this.#leave();
      else if (event.key === 'Enter') {
        if (!this.#endSelection()) this.#options.onChoose(this.#chosen ?? last);
      } else if (event.key in moves) {
        this.#anchor = event.shiftKey ? (this.#anchor ?? from) : undefined;
        this.#choose(Math.max(0, Math.min(last, from + moves[event.key])));
      } else return;
      event.preventDefault();
    });
  }
}

/** Makes the elements of a chart. */
function partsOf(title) {
  const svg = drawn('svg', { class: 'chart', role: 'img', height: HEIGHT });
  const cursor = element('div', {
    class: 'cursor',
    role: 'slider',
    tabindex: '0',
    'aria-label': `${title}: choose a time`,
  });
  const tip = element('div', { class: 'tip', hidden: '' });
  const unit = element('span', { class: 'soft' });
  const scroller = element('div', {
    class: 'scroller low',
    role: 'region',
    tabindex: '0',
    'aria-label': `${title}, as a table`,
  });
  return {
    svg,
    cursor,
    tip,
    unit,
    scroller,
    heading: element('h3', {}, `${title} `, unit),
    legend: element('ul', { class: 'legend' }),
    plot: element('div', { class: 'plot' }, svg, cursor, tip),
    details: element('details', {}, element('summary', {}, 'As a table'), scroller),
  };
}

function spanText({ fromMs, slotMs }, first, last) {
  return `${clockWithSeconds(fromMs + first * slotMs)} to ${clockWithSeconds(fromMs + (last + 1) * slotMs)}`;
}

/** Makes the entry of a series in the legend, with its last value. */
function keyOf({ name, kind, values }, { unfinished }, { format, lastSlot }) {
  const value = values.at(lastSlot(unfinished));
  const last = value == null ? [] : [' ', element('span', { class: 'soft' }, format(value))];
  return element('li', { class: `key ${kind}` }, name, ...last);
}

/** Returns texts about a slot: its time, its values, and the events in it. */
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
