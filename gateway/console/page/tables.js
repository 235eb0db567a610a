// Tables that can be sorted by buttons in their heads. Heads are kept while rows change, so that they keep the focus.

import { element } from './elements.js';

export const place = (id) => document.getElementById(id);

/**
 * @param options.columns each with `key`, `label`, `cell(row)` for what is shown, and `value(row)` if rows can be sorted by it; `numeric`
 *   puts it to the right, `minor` leaves it out where there is little room
 * @param options.sort the column it is sorted by at first, and whether the greatest comes first
 */
export function createTable(container, { caption, columns, empty, sort }) {
  let sorted = sort;
  let latest = [];
  const body = element('tbody');
  const heads = columns.map((column) => headOf(column, () => sortBy(column)));
  const table = element(
    'table',
    {},
    element('caption', { class: 'hidden' }, caption),
    element('thead', {}, element('tr', {}, ...heads)),
    body,
  );
  const scroller = element('div', { class: 'scroller', role: 'region', 'aria-label': caption, tabindex: '0' }, table);
  const nothing = element('p', { class: 'card empty' }, empty);
  container.replaceChildren(scroller, nothing);

  function sortBy({ key, numeric }) {
    sorted = { key, descending: sorted?.key === key ? !sorted.descending : numeric === true };
    show();
  }

  function show() {
    scroller.hidden = latest.length === 0;
    nothing.hidden = latest.length > 0;
    columns.forEach(({ key, value }, index) => {
      if (value === undefined) return;
      const order = sorted?.key !== key ? 'none' : sorted.descending ? 'descending' : 'ascending';
      heads[index].setAttribute('aria-sort', order);
    });
    const by = columns.find(({ key }) => key === sorted?.key);
    const rows = by ? [...latest].sort((one, other) => compare(by.value(one), by.value(other))) : [...latest];
    if (sorted?.descending) rows.reverse();
    body.replaceChildren(...rows.map((row) => rowOf(columns, row)));
  }

  return (rows) => {
    latest = rows;
    show();
  };
}

function classOf({ numeric, minor }) {
  return [numeric ? 'number' : '', minor ? 'minor' : ''].join(' ').trim();
}

function headOf(column, onSort) {
  const head = element('th', { scope: 'col', class: classOf(column) });
  if (column.value === undefined) head.append(column.label);
  else {
    const button = element('button', { type: 'button', class: 'sort' }, column.label);
    button.addEventListener('click', onSort);
    head.append(button);
  }
  return head;
}

function rowOf(columns, row) {
  const cells = columns.map((column, index) => {
    const attributes = index === 0 ? { scope: 'row', class: classOf(column) } : { class: classOf(column) };
    return element(index === 0 ? 'th' : 'td', attributes, column.cell(row));
  });
  return element('tr', {}, ...cells);
}

/** Unknown values come before all others. */
export function compare(one, other) {
  if (typeof one === 'number' || typeof other === 'number') return (one ?? -1) - (other ?? -1);
  return String(one ?? '').localeCompare(String(other ?? ''), 'en', { numeric: true });
}

/** A table of rows taken from each feed. */
export function createTableOf(id, rowsIn, options) {
  const show = createTable(place(id), options);
  return (feed) => show(rowsIn(feed));
}
