// The contents of a chart as a table, for readers who cannot see it: at most some fifty rows, the newest first.

import { element } from './elements.js';
import { clock } from './format.js';

const ROWS_MAX = 48;

export function chartTable(title) {
  const body = element('tbody');
  const heads = element('tr');
  const table = element('table', {}, element('caption', { class: 'hidden' }, title), element('thead', {}, heads), body);
  const label = `${title}, as a table`;
  const details = element(
    'details',
    {},
    element('summary', {}, 'As a table'),
    element('div', { class: 'scroller low', role: 'region', tabindex: '0', 'aria-label': label }, table),
  );
  let latest = () => undefined;
  details.addEventListener('toggle', () => latest());

  function fill({ fromMs, slotMs, series, combine }, format) {
    const slots = series[0]?.values.length ?? 0;
    const perRow = Math.max(1, Math.ceil(slots / ROWS_MAX), Math.round(60_000 / slotMs));
    const rows = [];
    for (let end = slots; end > 0; end -= perRow) {
      const from = Math.max(0, end - perRow);
      const cells = series.map(({ values }) => {
        const known = values.slice(from, end).filter((value) => value !== null);
        return element('td', { class: 'number' }, known.length === 0 ? '–' : format(combine(known)));
      });
      rows.push(element('tr', {}, element('th', { scope: 'row' }, clock(fromMs + from * slotMs)), ...cells));
    }
    const names = ['From', ...series.map(({ name }) => name)];
    heads.replaceChildren(
      ...names.map((name, index) => element('th', { scope: 'col', class: index > 0 ? 'number' : '' }, name)),
    );
    body.replaceChildren(...rows);
  }

  return {
    details,
    /** Fills the table while it is open. */
    show(data, format) {
      latest = () => {
        if (details.open) fill(data, format);
      };
      latest();
    },
  };
}
