// Shows the contents of a chart as a table, for readers who cannot see the chart, in about fifty rows, the newest first. This script is
// loaded when the first table is opened.

import { element } from './elements.js';
import { clockWithSeconds } from './format.js';

const ROWS_MAX = 48;

export function tableOf(title, { fromMs, slotMs, series, combine }, format) {
  const slots = series[0]?.values.length ?? 0;
  const perRow = Math.max(1, Math.ceil(slots / ROWS_MAX), Math.round(60_000 / slotMs));
  const rows = [];
  for (let end = slots; end > 0; end -= perRow) {
    const from = Math.max(0, end - perRow);
    const cells = series.map(({ values }) => {
      const known = values.slice(from, end).filter((value) => value !== null);
      return element('td', { class: 'number' }, known.length === 0 ? '–' : format(combine(known)));
    });
    rows.push(element('tr', {}, element('th', { scope: 'row' }, clockWithSeconds(fromMs + from * slotMs)), ...cells));
  }
  const heads = ['From', ...series.map(({ name }) => name)].map((name, index) =>
    element('th', { scope: 'col', class: index > 0 ? 'number' : '' }, name),
  );
  return element(
    'table',
    {},
    element('caption', { class: 'hidden' }, title),
    element('thead', {}, element('tr', {}, ...heads)),
    element('tbody', {}, ...rows),
  );
}
