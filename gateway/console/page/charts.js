// Line charts of the last quarter of an hour, and small ones for tables. Lines differ by their dashes and carry their names; a sentence
// and, on demand, a table describe the contents of a chart.

import { drawn, element } from './elements.js';
import { clock } from './format.js';
import { durationTicks, linearTicks, spread } from './scale.js';

const SPAN_MS = 900_000;
const HEIGHT = 220;
const MARGIN = { top: 12, right: 58, bottom: 26, left: 58 };
const LABEL_GAP = 15;

/**
 * @param options.format a value as text, with its unit; `axisFormat` the same on the axis
 * @param options.logarithmic for durations in milliseconds: a time-out must not flatten everything else
 */
export function createChart(container, options) {
  const { title, unit, format } = options;
  const svg = drawn('svg', { class: 'chart', role: 'img', height: HEIGHT });
  const table = element('tbody');
  const heads = element('tr');
  const details = element(
    'details',
    {},
    element('summary', {}, 'As a table'),
    element(
      'div',
      { class: 'scroller low', role: 'region', tabindex: '0', 'aria-label': `${title}, as a table` },
      element('table', {}, element('caption', { class: 'hidden' }, title), element('thead', {}, heads), table),
    ),
  );
  const heading = element('h3', {}, title, element('span', { class: 'soft' }, ` ${unit}`));
  container.replaceChildren(heading, svg, details);
  let shown;

  function show() {
    if (shown === undefined || container.clientWidth === 0) return;
    draw(svg, shown, options, heading.clientWidth);
    svg.setAttribute('aria-label', sentenceOf(shown.of === '' ? title : `${title} of ${shown.of}`, shown, format));
    if (details.open) fill(heads, table, shown, format);
  }

  new ResizeObserver(show).observe(container);
  details.addEventListener('toggle', show);
  /**
   * Takes `of` (the subject of the chart; empty: all operations), `fromMs`, `slotMs`, `endMs` and `lines`: each with a name, a kind (1, 2
   * or 3) and one value per slot, or null.
   */
  return (data) => {
    shown = data;
    show();
  };
}

function draw(svg, { fromMs, slotMs, endMs, lines }, { axisFormat, logarithmic, nothing }, width) {
  const right = width - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const values = lines.flatMap((line) => line.values.filter((value) => value !== null));
  const greatest = Math.max(0, ...values);
  const ticks = logarithmic ? durationTicks(greatest) : linearTicks(greatest || 1);
  const most = ticks.at(-1);
  const least = ticks[0];
  const toY = (value) => {
    const part = logarithmic
      ? Math.log(Math.max(value, least) / least) / Math.log(most / least)
      : (value - least) / (most - least);
    return bottom - Math.min(1, part) * (bottom - MARGIN.top);
  };
  const toX = (ms) => MARGIN.left + ((ms - endMs + SPAN_MS) / SPAN_MS) * (right - MARGIN.left);
  const parts = [];
  for (const tick of ticks) {
    parts.push(drawn('line', { class: 'grid', x1: MARGIN.left, x2: right, y1: toY(tick), y2: toY(tick) }));
    parts.push(text(MARGIN.left - 8, toY(tick) + 4, axisFormat(tick), 'end'));
  }
  const every = width < 420 ? 300_000 : 180_000;
  for (let ms = Math.ceil((endMs - SPAN_MS) / every) * every; ms <= endMs; ms += every) {
    parts.push(drawn('line', { class: 'axis', x1: toX(ms), x2: toX(ms), y1: bottom, y2: bottom + 4 }));
    parts.push(text(toX(ms), bottom + 18, clock(ms), 'middle'));
  }
  parts.push(drawn('line', { class: 'axis', x1: MARGIN.left, x2: right, y1: bottom, y2: bottom }));
  if (values.length === 0) parts.push(text((MARGIN.left + right) / 2, HEIGHT / 2, nothing, 'middle'));
  const placed = lines.filter((line) => line.values.some((value) => value !== null));
  for (const { kind, values } of placed) {
    const points = values.map((value, index) =>
      value === null || (kind !== 1 && isZeroStretch(values, index))
        ? null
        : [toX(Math.min(endMs, fromMs + (index + 1) * slotMs)), toY(value)],
    );
    parts.push(drawn('path', { class: `line kind-${kind}`, d: pathOf(points) }));
  }
  const ends = placed.map(({ values }) => toY(values.findLast((value) => value !== null)) + 4);
  spread(ends, LABEL_GAP, MARGIN.top + 4, bottom + 2).forEach((y, index) => {
    parts.push(text(right + 6, y, placed[index].name, 'start', `name kind-${placed[index].kind}`));
  });
  svg.setAttribute('width', width);
  svg.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`);
  svg.replaceChildren(...parts);
}

function text(x, y, content, anchor, name = '') {
  return drawn('text', { x, y, 'text-anchor': anchor, class: name }, content);
}

/** A line of zeros would lie on the axis and cover the other lines of zeros. */
function isZeroStretch(values, index) {
  return [values[index - 1], values[index], values[index + 1]].every((value) => !value);
}

/** A single point is drawn as a dot: a line of no length with round ends. */
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

function sentenceOf(title, { fromMs, slotMs, lines }, format) {
  const told = lines.flatMap(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    if (known.length === 0) return [];
    const greatest = Math.max(...known);
    const at = clock(fromMs + values.indexOf(greatest) * slotMs);
    return [`${name}: last ${format(known.at(-1))}, highest ${format(greatest)} at ${at}`];
  });
  return `${title} over the last 15 minutes. ${told.length > 0 ? `${told.join('; ')}.` : 'No requests.'}`;
}

/** One row of means per minute, the newest first, for readers who cannot see the lines. */
function fill(heads, body, { fromMs, slotMs, lines }, format) {
  const perMinute = 60_000 / slotMs;
  const slots = lines[0]?.values.length ?? 0;
  const rows = [];
  for (let end = slots; end > 0; end -= perMinute) {
    const from = Math.max(0, end - perMinute);
    const cells = lines.map(({ values, combine }) => {
      const known = values.slice(from, end).filter((value) => value !== null);
      return element('td', { class: 'number' }, known.length === 0 ? '–' : format(combine(known)));
    });
    rows.push(element('tr', {}, element('th', { scope: 'row' }, clock(fromMs + from * slotMs)), ...cells));
  }
  const names = ['From', ...lines.map(({ name }) => name)];
  heads.replaceChildren(
    ...names.map((name, index) => element('th', { scope: 'col', class: index > 0 ? 'number' : '' }, name)),
  );
  body.replaceChildren(...rows);
}

/** A line without axes; the numbers are beside it. */
export function sparkline(values, slots) {
  const width = 120;
  const height = 24;
  const greatest = Math.max(1e-9, ...values.map((value) => value ?? 0));
  const points = values.map((value, index) =>
    value === null
      ? null
      : [width - ((values.length - 1 - index) / (slots - 1)) * width, height - 2 - (value / greatest) * (height - 4)],
  );
  const path = drawn('path', { class: 'line kind-1', d: pathOf(points) });
  const attributes = { class: 'spark', width, height, viewBox: `0 0 ${width} ${height}`, 'aria-hidden': 'true' };
  return drawn('svg', attributes, drawn('path', { class: 'grid', d: `M0 ${height - 1}H${width}` }), path);
}
