// The chart of use: one column for each day, stacked by operation. The values of a day are shown below it for the pointer and the arrow
// keys. A table contains the same values.

import { count, countTicks, dayText } from './account-figures.js';
import { drawn, element } from './page-tools.js';

const HEIGHT = 220;
const MARGIN = { top: 10, right: 4, bottom: 26, left: 52 };
const LABEL_WIDTH = 74;

/** @param series each with a name, a kind (a class that colours it) and one value for each day */
export function usageChart({ dayList, series }) {
  const svg = drawn('svg', { class: 'usage-chart', height: HEIGHT, 'aria-hidden': 'true' });
  const readout = element('p', { class: 'usage-readout' });
  const last = dayList.length - 1;
  const cursor = element('div', {
    class: 'usage-cursor',
    role: 'slider',
    tabindex: '0',
    'aria-label': 'Requests of one day',
    'aria-valuemin': '0',
    'aria-valuemax': String(last),
  });
  const plot = element('div', { class: 'usage-plot' }, svg, cursor);
  const legend = element(
    'ul',
    { class: 'usage-legend' },
    ...series.map(({ name, kind }) => element('li', { class: kind }, name)),
  );
  let chosen = last;
  let placed;

  function choose(index) {
    chosen = index;
    const values = series
      .filter((one) => one.values[index] > 0)
      .map((one) => `${one.name} ${count(one.values[index])}`);
    const total = series.reduce((sum, one) => sum + one.values[index], 0);
    const text = `${dayText(dayList[index])}: ${count(total)} ${total === 1 ? 'request' : 'requests'}${values.length > 0 ? ` (${values.join(', ')})` : ''}`;
    readout.textContent = text;
    cursor.setAttribute('aria-valuenow', String(index));
    cursor.setAttribute('aria-valuetext', text);
    placed?.mark(index);
  }

  cursor.addEventListener('pointermove', ({ offsetX }) => {
    const index = placed?.dayAt(offsetX);
    if (index !== undefined && index !== chosen) choose(index);
  });
  cursor.addEventListener('keydown', (event) => {
    const steps = {
      ArrowLeft: -1,
      ArrowRight: 1,
      ArrowDown: -1,
      ArrowUp: 1,
      PageDown: -7,
      PageUp: 7,
      Home: -last,
      End: last,
    };
    if (!Object.hasOwn(steps, event.key)) return;
    choose(Math.max(0, Math.min(last, chosen + steps[event.key])));
    event.preventDefault();
  });
  new ResizeObserver(() => {
    if (plot.clientWidth === 0) return;
    placed = draw(svg, { dayList, series }, plot.clientWidth);
    choose(chosen);
  }).observe(plot);
  choose(last);
  return element('div', {}, plot, readout, legend);
}

function draw(svg, { dayList, series }, width) {
  const right = width - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const slot = (right - MARGIN.left) / dayList.length;
  const totals = dayList.map((_, index) => series.reduce((sum, { values }) => sum + values[index], 0));
  const ticks = countTicks(Math.max(...totals));
  const toY = (value) => bottom - (value / Math.max(1, ticks.at(-1))) * (bottom - MARGIN.top);
  const toX = (index) => MARGIN.left + index * slot;
  const band = drawn('rect', { class: 'chosen', y: MARGIN.top, width: slot, height: bottom - MARGIN.top });
  const parts = [band];
  for (const tick of ticks) {
    const y = toY(tick);
    parts.push(drawn('line', { class: 'grid', x1: MARGIN.left, x2: right, y1: y, y2: y }));
    parts.push(drawn('text', { x: MARGIN.left - 8, y: y + 4, 'text-anchor': 'end' }, shortCount(tick)));
  }
  const every = Math.max(1, Math.ceil(LABEL_WIDTH / slot));
  for (let index = dayList.length - 1; index >= 0; index -= every) {
    const x = Math.min(Math.max(toX(index) + slot / 2, MARGIN.left + 14), right - 20);
    parts.push(drawn('text', { x, y: bottom + 18, 'text-anchor': 'middle' }, dayText(dayList[index])));
  }
  for (const index of dayList.keys()) {
    let below = 0;
    for (const { kind, values } of series) {
      if (values[index] === 0) continue;
      const [from, to] = [toY(below), toY(below + values[index])];
      below += values[index];
      // At least one pixel, with a gap between the parts of a column.
      const height = Math.max(1, from - to - (below === totals[index] ? 0 : 1));
      const gap = Math.min(3, slot * 0.15);
      parts.push(
        drawn('rect', { class: `part ${kind}`, x: toX(index) + gap, y: from - height, width: slot - 2 * gap, height }),
      );
    }
  }
  svg.setAttribute('width', width);
  svg.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`);
  svg.replaceChildren(...parts);
  return {
    mark: (index) => band.setAttribute('x', toX(index)),
    dayAt(x) {
      const index = Math.floor((x - MARGIN.left) / slot);
      return index >= 0 && index < dayList.length ? index : undefined;
    },
  };
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const shortCount = (value) => (value < 10_000 ? count(value) : compact.format(value));

/** The newest day first. */
export function usageTable({ dayList, series }) {
  const head = element(
    'tr',
    {},
    ...['Day (UTC)', ...series.map(({ name }) => name)].map((text) => element('th', { scope: 'col' }, text)),
  );
  const rows = dayList
    .map((dayMs, index) =>
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, dayText(dayMs)),
        ...series.map(({ values }) => element('td', {}, count(values[index]))),
      ),
    )
    .reverse();
  const table = element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows));
  const scroller = element(
    'div',
    { class: 'table', role: 'region', tabindex: '0', 'aria-label': 'Requests by day and operation' },
    table,
  );
  return element('details', { class: 'nested' }, element('summary', {}, 'As a table'), scroller);
}
