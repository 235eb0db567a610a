// Panels for requests and errors. Each is created once, and updated with every feed.

import { attentionOf } from './attention.js';
import { createChart, sparkline } from './charts.js';
import { element, state } from './elements.js';
import { ago, count, duration, percent, rate } from './format.js';
import { createTable, createTableOf, place } from './tables.js';

const SLOTS = 60;
const EVERYTHING = 'all operations';

/** Screen readers announce it only when it changes. */
export function attention() {
  let told;
  return (feed) => {
    const found = attentionOf(feed);
    const key = JSON.stringify(found);
    if (key === told) return;
    told = key;
    const items = found.map(({ kind, text }) => element('li', { class: kind }, state(kind, text)));
    if (items.length === 0) items.push(element('li', { class: 'good' }, state('good', 'Nothing needs attention.')));
    place('attention').replaceChildren(...items);
  };
}

export function tiles() {
  return ({ history, status }) => {
    const { minute } = history.all;
    const limited = history.codes
      .filter(({ code }) => code === 'rate_limited')
      .reduce((sum, one) => sum + one.minute, 0);
    const shown = [
      [
        'Requests',
        `${rate(minute.requests / history.minute_seconds)}/s`,
        `${count(minute.requests)} in the last minute`,
      ],
      ['Duration, p50', duration(minute.p50_ms), 'half of them take no longer'],
      ['Duration, p99', duration(minute.p99_ms), '99 of 100 take no longer'],
      [
        'Failed, 5xx',
        percent(minute.server_errors, minute.requests),
        `${count(minute.server_errors)} of ${count(minute.requests)}`,
      ],
      ['Refused, 4xx', percent(minute.client_errors, minute.requests), `${count(limited)} of them for a limit`],
      [
        'Being worked on',
        count(status?.overload?.in_flight ?? 0),
        `at most ${count(status?.overload?.in_flight_max ?? 0)}`,
      ],
    ];
    place('tiles').replaceChildren(
      ...shown.map(([name, value, more]) =>
        element(
          'div',
          { class: 'card tile' },
          element('dt', {}, name),
          element('dd', { class: 'value' }, value),
          element('dd', { class: 'soft' }, more),
        ),
      ),
    );
  };
}

export function charts() {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const greatest = (values) => Math.max(...values);
  const select = place('shown');
  const nothing = 'No requests yet';
  const traffic = createChart(place('traffic-chart'), {
    ...{ title: 'Requests', unit: 'per second', nothing },
    format: (value) => `${rate(value)}/s`,
    axisFormat: (value) => String(value),
  });
  const latency = createChart(place('latency-chart'), {
    ...{ title: 'Duration', unit: 'logarithmic axis', nothing, logarithmic: true },
    format: duration,
    axisFormat: duration,
  });
  let latest;

  function show() {
    const { history, at_ms } = latest;
    const { series } = history.operations.find(({ name }) => name === select.value) ?? history.all;
    const slotMs = history.slot_seconds * 1000;
    const of = select.value === EVERYTHING ? '' : select.value;
    const time = { of, fromMs: history.from_ms, slotMs, endMs: at_ms };
    const secondsOf = (values, index) => (index + 1 < values.length ? history.slot_seconds : history.last_slot_seconds);
    const perSecond = (values) => values.map((value, index) => value / secondsOf(values, index));
    const isAny = (values) => values.some((value) => value > 0);
    const lines = [
      { name: 'all', kind: 1, values: isAny(series.requests) ? perSecond(series.requests) : [], combine: mean },
    ];
    if (isAny(series.client_errors))
      lines.push({ name: '4xx', kind: 2, values: perSecond(series.client_errors), combine: mean });
    if (isAny(series.server_errors))
      lines.push({ name: '5xx', kind: 3, values: perSecond(series.server_errors), combine: mean });
    traffic({ ...time, lines });
    latency({
      ...time,
      lines: [
        { name: 'p50', kind: 1, values: series.p50_ms, combine: greatest },
        { name: 'p99', kind: 2, values: series.p99_ms, combine: greatest },
      ],
    });
  }

  /** Keeps the selected operation while it exists. Options are replaced only when they change, because that would close an open list. */
  function choices(names) {
    const wanted = [EVERYTHING, ...names.toSorted()];
    if (wanted.join() === [...select.options].map(({ value }) => value).join()) return;
    const chosen = select.value;
    select.replaceChildren(...wanted.map((name) => element('option', { value: name }, name)));
    select.value = wanted.includes(chosen) ? chosen : EVERYTHING;
  }

  select.addEventListener('change', show);
  return (feed) => {
    latest = feed;
    choices(feed.history.operations.map(({ name }) => name));
    show();
  };
}

export function operations() {
  const of = (key) => (row) => row.minute[key];
  const show = createTable(place('operations'), {
    caption: 'Operations with the most requests in the last 15 minutes',
    empty: 'No requests in the last 15 minutes.',
    sort: { key: 'total', descending: true },
    columns: [
      { key: 'name', label: 'Operation', cell: ({ name }) => name, value: ({ name }) => name },
      {
        key: 'rate',
        label: 'Per second',
        numeric: true,
        cell: (row) => rate(row.perSecond),
        value: (row) => row.perSecond,
      },
      { key: 'spark', label: '15 minutes', minor: true, cell: ({ series }) => sparkline(series.requests, SLOTS) },
      {
        key: 'total',
        label: 'Requests',
        numeric: true,
        cell: ({ total }) => count(total.requests),
        value: ({ total }) => total.requests,
      },
      { key: 'p50', label: 'p50', numeric: true, cell: (row) => duration(row.minute.p50_ms), value: of('p50_ms') },
      { key: 'p99', label: 'p99', numeric: true, cell: (row) => duration(row.minute.p99_ms), value: of('p99_ms') },
      { key: 'p99s', label: 'p99, 15 minutes', minor: true, cell: ({ series }) => sparkline(series.p99_ms, SLOTS) },
      {
        key: 'client',
        label: '4xx',
        numeric: true,
        cell: ({ total }) => count(total.client_errors),
        value: ({ total }) => total.client_errors,
      },
      {
        key: 'server',
        label: '5xx',
        numeric: true,
        cell: ({ total }) => failures(total.server_errors),
        value: ({ total }) => total.server_errors,
      },
    ],
  });
  return ({ history }) => {
    const rows = [...history.operations, ...(history.others ? [history.others] : [])];
    show(rows.map((row) => ({ ...row, perSecond: row.minute.requests / history.minute_seconds })));
  };
}

function failures(number) {
  return number === 0 ? '0' : state('bad', count(number));
}

export function codes() {
  return createTableOf('codes', ({ history }) => history.codes, {
    caption: 'Refusals and failures by code in the last 15 minutes',
    empty: 'No errors in the last 15 minutes.',
    sort: { key: 'total', descending: true },
    columns: [
      { key: 'code', label: 'Code', cell: ({ code }) => code, value: ({ code }) => code },
      { key: 'stage', label: 'Stage', minor: true, cell: ({ stage }) => stage, value: ({ stage }) => stage },
      { key: 'spark', label: '15 minutes', minor: true, cell: ({ series }) => sparkline(series, SLOTS) },
      {
        key: 'minute',
        label: 'Last minute',
        numeric: true,
        cell: ({ minute }) => count(minute),
        value: ({ minute }) => minute,
      },
      {
        key: 'total',
        label: '15 minutes',
        numeric: true,
        cell: ({ total }) => count(total),
        value: ({ total }) => total,
      },
    ],
  });
}

export function organizations() {
  const numeric = (key, label) => ({
    key,
    label,
    numeric: true,
    cell: (row) => count(row[key]),
    value: (row) => row[key],
  });
  return createTableOf('organizations', (feed) => feed.organizations.map((row) => ({ ...row, nowMs: feed.at_ms })), {
    caption: 'Organizations near a limit or beyond it in the last 15 minutes',
    empty: 'No organization came near a limit in the last 15 minutes.',
    columns: [
      { key: 'organization', label: 'Organization', cell: (row) => row.organization, value: (row) => row.organization },
      {
        key: 'refused',
        label: 'Refused',
        numeric: true,
        cell: (row) => failures(row.refused),
        value: (row) => row.refused,
      },
      numeric('shadow_refused', 'Shadow'),
      numeric('near', 'Near'),
      {
        key: 'left',
        label: 'Left',
        numeric: true,
        cell: (row) => count(row.remaining),
        value: (row) => row.remaining / row.limit,
      },
      { key: 'limit', label: 'Limit', cell: (row) => `${row.policy}: ${count(row.limit)} in ${row.window_seconds} s` },
      {
        key: 'last',
        label: 'Last',
        minor: true,
        cell: (row) => ago(row.last_at_ms, row.nowMs),
        value: (row) => row.last_at_ms,
      },
    ],
  });
}
