// The first view: what needs attention, the last minute, and the traffic of a range. Every number leads to its exchanges.

import { durations, stacked } from './chart-kinds.js';
import { signOf } from './chart-marks.js';
import { createChart } from './charts.js';
import { element, link, place, state } from './elements.js';
import {
  ago,
  bytes,
  count,
  moment,
  operationName,
  percent,
  period,
  quantile,
  rate,
  timeElement,
  withTimes,
} from './format.js';
import { codesTable, operationsTable, organizationsTable } from './overview-tables.js';
import { addressOf } from './routes.js';

const EVERYTHING = 'all operations';
const titles = { '15m': 'last 15 minutes', '1h': 'last hour', '6h': 'last 6 hours', '24h': 'last 24 hours' };
const slotsOf = { '15m': 60, '1h': 60, '6h': 72, '24h': 288 };

/** Screen readers announce it only when it changes. */
function attention() {
  let told;
  return ({ attention: causes, status }) => {
    const found = causes.map(attentionLine);
    if (found.length === 0 && status === null) found.push(lineOf('warn', 'No instance has answered yet.'));
    if (found.length === 0) found.push(lineOf('good', 'Nothing needs attention.'));
    const key = found.map(({ outerHTML }) => outerHTML).join();
    if (key === told) return;
    told = key;
    place('attention').replaceChildren(...found);
  };
}

function attentionLine({ kind, cause, consequence, since, until, runbook, details, instances }) {
  const more = [];
  if (instances !== undefined) more.push(` On ${instances.join(', ')}.`);
  if (since !== undefined) more.push(element('span', { class: 'when' }, ' Since ', timeElement(since), '.'));
  if (until !== undefined && !consequence.includes(until))
    more.push(element('span', { class: 'when' }, ' Until ', timeElement(until), '.'));
  if (details !== undefined) more.push(' ', link(details, 'Details'));
  if (runbook !== undefined) more.push(' ', link(addressOf('runbook', {}, runbook), '→ runbook'));
  return lineOf(kind, element('strong', {}, withTimes(cause)), ` ${withTimes(consequence)}`, ...more);
}

function lineOf(kind, ...content) {
  const text = element('span', { class: 'text' }, ...content);
  return element('li', { class: kind }, state(kind, ''), text);
}

function tiles() {
  return ({ history, statuses, instance }) => {
    const { minute } = history.all;
    const window = `in the last ${period(history.minute_seconds)}`;
    const sum = (name) => statuses.reduce((total, { status }) => total + (status?.overload?.[name] ?? 0), 0);
    const limited = history.codes
      .filter(({ code }) => code === 'rate_limited')
      .reduce((total, one) => total + one.minute, 0);
    const to = (params) => addressOf('exchanges', { ...params, instance: instance === 'all' ? 'all' : undefined });
    const shown = [
      [
        'Requests',
        `${rate(minute.requests / history.minute_seconds)}/s`,
        `${count(minute.requests)} ${window}`,
        to({}),
      ],
      ['Half within', quantile(minute.p50_ms), `p50 ${window}`, to({ sort: 'duration' })],
      ['99 % within', quantile(minute.p99_ms), `p99 ${window}`, to({ sort: 'duration' })],
      [
        'Failed, 5xx',
        percent(minute.server_errors, minute.requests),
        `${count(minute.server_errors)} ${window}`,
        to({ status: '5xx' }),
      ],
      [
        'Refused, 4xx',
        percent(minute.client_errors, minute.requests),
        `${count(minute.client_errors)}, ${count(limited)} of them for a limit`,
        to({ status: '4xx' }),
      ],
      ['In progress', count(sum('in_flight')), `now, of at most ${count(sum('in_flight_max'))}`, addressOf('system')],
    ];
    place('tiles').replaceChildren(
      ...shown.map(([name, value, more, href]) =>
        element(
          'div',
          { class: 'card tile' },
          element('dt', {}, link(href, name)),
          element('dd', { class: 'value' }, value),
          element('dd', { class: 'soft' }, more),
        ),
      ),
    );
  };
}

/** The series of one operation as those of the charts. */
function chartData({ history, at, events }, of) {
  const { series } = history.operations.find(({ name }) => name === of) ?? history.all;
  const slotMs = history.slot_seconds * 1000;
  const secondsOf = (index) => (index + 1 < series.requests.length ? history.slot_seconds : history.last_slot_seconds);
  const perSecond = (values) => values.map((value, index) => value / secondsOf(index));
  const good = series.requests.map(
    (all, index) => all - series.redirects[index] - series.client_errors[index] - series.server_errors[index],
  );
  const shared = {
    of: of === EVERYTHING ? '' : of,
    ...{ fromMs: Date.parse(history.from), slotMs, slots: slotsOf[history.range], events, endMs: Date.parse(at) },
    notes: (slot) => [`${count(series.requests[slot])} requests`],
  };
  const byStatus = [
    { name: '2xx', kind: 'status-2', values: perSecond(good) },
    { name: '3xx', kind: 'status-3', values: perSecond(series.redirects) },
    { name: '4xx', kind: 'status-4', values: perSecond(series.client_errors) },
    { name: '5xx', kind: 'status-5', values: perSecond(series.server_errors) },
  ];
  const unused = byStatus.filter(({ name, values }) => name === '3xx' && !values.some((value) => value > 0));
  return {
    traffic: {
      ...shared,
      unit: `per second, by status, in columns of ${period(history.slot_seconds)}`,
      series: byStatus.filter((one) => !unused.includes(one)),
      combine: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
    },
    latency: {
      ...shared,
      unit: 'of half and of 99 % of the requests',
      series: [
        { name: 'p50', kind: 'p50', values: series.p50_ms },
        { name: 'p99', kind: 'p99', values: series.p99_ms },
      ],
      combine: (values) => Math.max(...values),
    },
  };
}

function charts() {
  const select = place('shown');
  let latest;
  let data;

  /** The exchanges of a slot. Slots are counted when they end, so that the first of them began a little earlier. */
  function open(slot, params) {
    const { fromMs, slotMs } = data.traffic;
    const from = new Date(fromMs + slot * slotMs).toISOString();
    const to = new Date(fromMs + (slot + 1) * slotMs).toISOString();
    const operation = select.value === EVERYTHING ? undefined : select.value;
    location.hash = addressOf('exchanges', {
      ...params,
      operation,
      from,
      to,
      instance: latest.instance === 'all' ? 'all' : undefined,
    });
  }

  const traffic = createChart(place('traffic-chart'), {
    ...stacked,
    title: 'Requests',
    onChoose: (slot, name) => open(slot, { status: ['4xx', '5xx', '3xx'].includes(name) ? name : undefined }),
  });
  const latency = createChart(place('latency-chart'), {
    ...durations,
    title: 'Duration',
    onChoose: (slot) => open(slot, { sort: 'duration' }),
  });

  function show() {
    data = chartData(latest, select.value);
    traffic(data.traffic);
    latency(data.latency);
  }

  /** Keeps the selected operation while it exists. Options are replaced only when they change, because that would close an open list. */
  function choices(names) {
    const wanted = [EVERYTHING, ...names.toSorted()];
    if (wanted.join() === [...select.options].map(({ value }) => value).join()) return;
    const chosen = select.value;
    select.replaceChildren(...wanted.map((name) => element('option', { value: name }, operationName(name))));
    select.value = wanted.includes(chosen) ? chosen : EVERYTHING;
  }

  select.addEventListener('change', show);
  return (feed) => {
    latest = feed;
    choices(feed.history.operations.map(({ name }) => name));
    show();
  };
}

/** What the charts mark, and how far back they reach. */
function marks() {
  return ({ history, events, at }) => {
    const fromMs = Date.parse(history.from);
    const nowMs = Date.parse(at);
    const shown = events.filter((event) => event.until === null || Date.parse(event.until) >= fromMs).toReversed();
    const items = shown.map((event) => {
      const until =
        event.until === null ? ' until now' : event.until === event.at ? '' : ` until ${moment(event.until, nowMs)}`;
      const where = event.instance === undefined ? '' : ` (${event.instance})`;
      const sign = element('span', { 'aria-hidden': 'true', class: `sign ${event.kind}` }, signOf(event.kind));
      return element(
        'li',
        {},
        sign,
        timeElement(event.at, moment(event.at, nowMs)),
        `${until}: ${withTimes(event.text)}${where}`,
      );
    });
    const list = place('marks');
    const next = element('ul', {}, ...items);
    if (next.innerHTML !== list.innerHTML) list.replaceChildren(...next.childNodes);
    const { bytes: used, bytes_max: most } = history.memory;
    place('reach').textContent =
      `Counts reach back ${ago(history.from, nowMs).replace(' ago', '')} here, a day at most; they take ${bytes(used)} of at most ${bytes(most)} of memory, and are kept over a restart.`;
  };
}

export function overview() {
  const shows = [attention(), tiles(), charts(), marks(), operationsTable(), codesTable(), organizationsTable()];
  return (feed) => {
    for (const one of document.querySelectorAll('.range-title')) one.textContent = titles[feed.history?.range] ?? '';
    if (feed.history === null) return shows[0](feed);
    for (const show of shows) show(feed);
  };
}
