// The use of an organization by day and operation. Each of the busiest operations has a part of each column. All others share one part, so
// the sums are right for any number of operations. Requests about the account are among the others, and the sentence states their number.

import { usageChart, usageTable } from './account-chart.js';
import { byOperation, count, lastDays, listOf, moment, perDay, remainderOf } from './account-figures.js';
import { isOfAccount, operationLink, titleOf } from './account-operations.js';
import { element } from './page-tools.js';

const OPERATIONS_MAX = 5;
/** Pages of 100 rows: operations by month. */
const PAGES_MAX = 10;

export async function loadUse(api, { nowMs, length }) {
  const dayList = lastDays(nowMs, length);
  const from = new Date(dayList[0]).toISOString();
  const [totals, months] = await Promise.all([
    api.get('/usage', [
      ['by', 'day'],
      ['from', from],
      ['limit', '100'],
    ]),
    allRows(api, [
      ['by', 'month'],
      ['group', 'operation'],
      ['from', from],
      ['limit', '100'],
    ]),
  ]);
  const operations = byOperation(months.rows);
  const named = operations.filter(({ id }) => id !== null && !isOfAccount(id)).slice(0, OPERATIONS_MAX);
  const parts = await Promise.all(
    named.map(async ({ id }) => {
      const { value } = await api.get('/usage', [
        ['by', 'day'],
        ['from', from],
        ['operation_id', id],
        ['limit', '100'],
      ]);
      return perDay(listOf(value.data), dayList);
    }),
  );
  const rest = remainderOf(perDay(listOf(totals.value.data), dayList), parts);
  const series = named.map(({ id }, index) => ({ name: titleOf(id), kind: `use-${index + 1}`, values: parts[index] }));
  if (rest.some((value) => value > 0) || series.length === 0)
    series.push({ name: series.length === 0 ? 'All requests' : 'Other', kind: 'use-other', values: rest });
  return { dayList, series, operations, isWhole: months.isWhole, completeUntil: totals.value.complete_until };
}

async function allRows(api, query) {
  const rows = [];
  let cursor;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { value } = await api.get('/usage', [...query, ['cursor', cursor]]);
    rows.push(...listOf(value.data));
    if (value.has_more !== true) return { rows, isWhole: true };
    cursor = value.cursor;
  }
  return { rows, isWhole: false };
}

export function useElements(use) {
  const { dayList, series, operations, isWhole, completeUntil } = use;
  const total = series.reduce((sum, { values }) => sum + values.reduce((all, value) => all + value, 0), 0);
  const ofAccount = operations.filter(({ id }) => isOfAccount(id)).reduce((sum, { requests }) => sum + requests, 0);
  const among = ofAccount === 0 ? '' : `, ${count(ofAccount)} of them about the account, as this page sends`;
  const until = completeUntil === undefined ? '' : ` Complete until ${moment(completeUntil)}.`;
  const sentence = element(
    'p',
    {},
    element('strong', {}, `${count(total)} ${total === 1 ? 'request' : 'requests'}`),
    ` in ${dayList.length} days${among}.`,
    element('span', { class: 'account-soft' }, until),
  );
  if (total === 0) return [sentence];
  return [sentence, usageChart(use), usageTable(use), operationTable(operations, isWhole)];
}

const ROWS_MAX = 100;

function operationTable(operations, isWhole) {
  const rows = operations
    .slice(0, ROWS_MAX)
    .map(({ id, name, requests }) =>
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, id === null ? name : operationLink(id)),
        element('td', {}, count(requests)),
      ),
    );
  const head = element(
    'tr',
    {},
    element('th', { scope: 'col' }, 'Operation'),
    element('th', { scope: 'col' }, 'Requests'),
  );
  const table = element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows));
  const scroller = element(
    'div',
    { class: 'table', role: 'region', tabindex: '0', 'aria-label': 'Requests by operation' },
    table,
  );
  const cut =
    isWhole && operations.length <= ROWS_MAX
      ? []
      : [element('p', { class: 'cut' }, 'There are more operations than are shown.')];
  return element(
    'details',
    { class: 'nested' },
    element('summary', {}, `By operation (${count(operations.length)})`),
    scroller,
    ...cut,
  );
}
