// Tables whose rows can be links, sorted by buttons in their heads. Heads and rows are kept while their contents change, so that they keep
// the focus. In narrow windows each row becomes a card; the roles keep it a table for screen readers.

import { element, keepFocus } from './elements.js';
import { count } from './format.js';

/**
 * @param options.columns each with `key`, `label`, `cell(row)` for what is shown, by default the member of this key, and `value(row)` if rows
 *   can be sorted by it, `true` for that member; `numeric` puts it to the right, `minor` leaves it out where there is little room, `long`
 *   gives it a line of its own there, `optional` leaves it out while all its cells are empty
 * @param options.keyOf returns the key of a row, which stays the same while the row changes
 * @param options.hrefOf where the row leads; the first cell becomes a link that covers the row
 * @param options.compact leaves out the labels of cards, where values speak for themselves
 * @param options.sort the column it is sorted by at first, and whether the greatest comes first
 * @param options.onSort is told when the reader sorts it otherwise
 * @returns `show(rows, sort)`; without `sort`, the order stays
 */
export function createTable(container, { caption, columns: given, empty, sort, onSort, keyOf, hrefOf, compact }) {
  const columns = given.map(completed);
  let sorted = sort;
  let latest = [];
  const known = new Map();
  const body = element('tbody', { role: 'rowgroup' });
  const heads = columns.map((column) => headOf(column, () => sortBy(column)));
  const table = element(
    'table',
    { role: 'table', class: compact ? 'compact' : undefined },
    element('caption', { class: 'hidden' }, caption),
    element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...heads)),
    body,
  );
  const scroller = element('div', { class: 'scroller', role: 'region', 'aria-label': caption, tabindex: '0' }, table);
  // A table without an answer yet is not an empty table.
  const nothing = element('p', { class: 'card empty', hidden: '' }, empty);
  container.replaceChildren(scroller, nothing);

  function sortBy({ key, numeric }) {
    sorted = { key, descending: sorted?.key === key ? !sorted.descending : numeric === true };
    onSort?.(sorted);
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
    const sign = sorted?.descending ? -1 : 1;
    const rows = by ? latest.toSorted((one, other) => sign * compare(by.value(one), by.value(other))) : latest;
    keepFocus(body, () => place(rows));
    columns.forEach(({ optional }, index) => {
      if (!optional) return;
      const cells = [...body.children].map((tr) => tr.children[index]);
      const isEmpty = cells.every(({ textContent }) => textContent === '');
      for (const cell of [heads[index], ...cells]) cell.hidden = isEmpty;
    });
  }

  function place(rows) {
    const keys = new Set(rows.map(keyOf));
    for (const [key, { tr }] of known) {
      if (keys.has(key)) continue;
      tr.remove();
      known.delete(key);
    }
    rows.forEach((row, index) => {
      const tr = fill(row);
      if (body.children[index] !== tr) body.insertBefore(tr, body.children[index] ?? null);
    });
  }

  function fill(row) {
    const key = keyOf(row);
    let entry = known.get(key);
    if (entry === undefined) {
      const cells = columns.map(cellFor);
      entry = { tr: element('tr', { role: 'row' }, ...cells), cells, shown: [] };
      known.set(key, entry);
    }
    columns.forEach((column, index) => {
      const made = element('span', {}, column.cell(row));
      const href = index === 0 ? hrefOf?.(row) : undefined;
      const content = href === undefined ? made : element('a', { href, class: 'row', 'data-focus': key }, made);
      if (entry.shown[index] === content.outerHTML) return;
      entry.shown[index] = content.outerHTML;
      entry.cells[index].replaceChildren(content);
    });
    return entry.tr;
  }

  return (rows, order = sorted) => {
    latest = rows;
    sorted = order;
    show();
  };
}

function completed(column) {
  const own = (row) => row[column.key];
  const cell = column.numeric ? (row) => count(own(row)) : own;
  return { cell, ...column, value: column.value === true ? own : column.value };
}

function classOf({ numeric, minor, long }) {
  return [numeric ? 'number' : '', minor ? 'minor' : '', long ? 'long' : ''].join(' ').trim();
}

function cellFor(column, index) {
  const attributes = { class: classOf(column), 'data-label': column.label };
  return index === 0
    ? element('th', { scope: 'row', role: 'rowheader', ...attributes })
    : element('td', { role: 'cell', ...attributes });
}

function headOf(column, onSort) {
  const head = element('th', { scope: 'col', role: 'columnheader', class: classOf(column) });
  if (column.value === undefined) head.append(column.label);
  else {
    const button = element('button', { type: 'button', class: 'sort' }, column.label);
    button.addEventListener('click', onSort);
    head.append(button);
  }
  return head;
}

/** Compares two values. Unknown values come before all others. */
export function compare(one, other) {
  if (typeof one === 'number' || typeof other === 'number') return (one ?? -1) - (other ?? -1);
  return String(one ?? '').localeCompare(String(other ?? ''), 'en', { numeric: true });
}
