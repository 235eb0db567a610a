// Recent exchanges: filters, the list, and whether it follows what arrives. The filters are in the address, so that a list can be linked.

import { read } from './api.js';
import { element, link, place, state } from './elements.js';
import { follow } from './follow.js';
import { clockWithSeconds, duration, isToday, moment, NONE, operationName, timeElement } from './format.js';
import { addressOf } from './routes.js';
import { createTable } from './tables.js';

const LIVE_MS = 1500;
const FILTERS = ['status', 'code', 'operation', 'organization', 'key', 'client', 'upstream', 'min_ms'];

const kindOf = (status) => (status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good');

/** When it was, to the second; with the day if that is another one. */
function timeCell({ at }) {
  const ms = Date.parse(at);
  return timeElement(at, isToday(ms) ? clockWithSeconds(ms) : moment(at));
}

/** The gateway's share and that of the upstream, as numbers and as a bar. */
function durationCell({ duration_ms: all, upstream_ms: upstream, longest }) {
  const own = upstream === null ? all : Math.max(0, all - upstream);
  const text = upstream === null ? duration(own) : `${duration(own)} + ${duration(upstream)}`;
  const bar = element('span', { class: 'split', 'aria-hidden': 'true' });
  for (const [kind, ms] of [
    ['own', own],
    ['upstream', upstream ?? 0],
  ]) {
    const part = element('span', { class: kind });
    part.style.width = `${(100 * ms) / Math.max(longest, 0.001)}%`;
    bar.append(part);
  }
  return element('span', { class: 'duration' }, text, bar);
}

/**
 * A request of no operation is known by its path, in which what may be a value is masked. A call by an agent has the name of its tool, too.
 */
function operationCell({ operation, path, tool }) {
  if (tool)
    return element('span', {}, operationName(operation), element('span', { class: 'soft' }, ` by tool ${tool}`));
  if (!path) return operationName(operation);
  return element('span', {}, `${operation.split(' ')[0]} ${path}`, element('span', { class: 'soft' }, ' no operation'));
}

/** A request without an organization is known by the address of its client. */
function senderCell({ organization, client }) {
  if (organization === null && client === null) return NONE;
  const href = organization === null ? addressOf('requests', { client }) : addressOf('organizations', {}, organization);
  return element('a', { class: 'inner', href }, organization ?? client);
}

/** A list of exchanges; `without` names columns that would say the same in every row. */
export function exchangeTable(container, { caption, empty, without = [], sort }) {
  const columns = [
    { key: 'time', label: 'Time', cell: timeCell, value: (row) => row.at },
    {
      key: 'status',
      label: 'Status',
      cell: ({ status }) => state(kindOf(status), String(status)),
      value: (row) => row.status,
    },
    {
      key: 'operation',
      label: 'Operation',
      long: true,
      cell: operationCell,
      value: (row) => row.operation,
    },
    { key: 'code', label: 'Code', cell: (row) => row.code ?? NONE, value: (row) => row.code },
    {
      key: 'organization',
      label: 'Organization or address',
      cell: senderCell,
      value: (row) => row.organization ?? row.client,
    },
    {
      key: 'duration',
      label: 'Gateway + upstream',
      numeric: true,
      cell: durationCell,
      value: (row) => row.duration_ms,
    },
    { key: 'id', label: 'Request id', minor: true, cell: (row) => element('code', {}, row.request_id) },
  ];
  const show = createTable(container, {
    ...{ caption, empty, compact: true, sort: sort ?? { key: 'time', descending: true } },
    keyOf: (row) => row.request_id,
    hrefOf: (row) => addressOf('requests', {}, row.request_id),
    columns: columns.filter(({ key }) => !without.includes(key)),
  });
  return (rows) => {
    const longest = Math.max(...rows.map((row) => row.duration_ms), 0);
    show(rows.map((row) => ({ ...row, longest })));
  };
}

/** @returns `open(params)` shows the list for an address, `close()` stops it, `feed(feed)` renews what the filters offer */
export function exchanges(tell) {
  const form = place('filters');
  const live = place('live');
  let stop = () => undefined;
  let sorting;
  let show;

  const paramsIn = () => {
    const values = FILTERS.map((name) => [name, form.elements[name].value.trim()]);
    const now = new URLSearchParams(location.hash.split('?')[1] ?? '');
    const kept = ['from', 'to', 'sort', 'instance'].map((name) => [name, now.get(name)]);
    return Object.fromEntries([...values, ...kept]);
  };

  function apply() {
    const address = addressOf('requests', paramsIn());
    if (address !== location.hash) history.replaceState(null, '', address);
    begin();
  }

  function begin() {
    stop();
    const { sort: _sort, ...asked } = paramsIn();
    const ask = () => read('exchanges', Object.fromEntries(Object.entries(asked).filter(([, value]) => value)));
    stop = follow(ask, LIVE_MS, {
      ...tell,
      answer({ exchanges: rows }) {
        tell.answer();
        show(rows);
        const total = rows.length === 100 ? 'The latest 100' : `${rows.length}`;
        place('exchanges-count').textContent =
          `${total} requests${rows.length > 0 ? `, back to ${moment(rows.at(-1).at)}` : ''}.`;
        if (live.getAttribute('aria-pressed') === 'false') stop();
      },
    });
  }

  function showWindow(params) {
    const [from, to] = [params.get('from'), params.get('to')];
    const box = place('window');
    box.hidden = from === null && to === null;
    if (box.hidden) return;
    const span = `From ${from === null ? 'the beginning' : clockWithSeconds(Date.parse(from))} to ${to === null ? 'now' : clockWithSeconds(Date.parse(to))}`;
    const without = Object.fromEntries([...params].filter(([name]) => name !== 'from' && name !== 'to'));
    box.replaceChildren(`${span} `, link(addressOf('requests', without), 'Any time'));
  }

  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('change', apply);
  place('clear').addEventListener('click', () => {
    location.hash = '#/requests';
  });
  live.addEventListener('click', () => {
    const next = live.getAttribute('aria-pressed') === 'false';
    live.setAttribute('aria-pressed', String(next));
    live.textContent = next ? '● Live' : '○ Paused';
    if (next) begin();
    else stop();
  });

  return {
    open(params) {
      for (const name of FILTERS) form.elements[name].value = params.get(name) ?? '';
      showWindow(params);
      const sort = params.get('sort') === 'duration' ? { key: 'duration', descending: true } : undefined;
      if (show === undefined || sorting !== sort?.key) {
        show = exchangeTable(place('exchange-list'), {
          caption: 'Recent requests',
          empty: 'No request that is still remembered passes these filters.',
          sort,
        });
        sorting = sort?.key;
      }
      begin();
    },
    close: () => stop(),
    feed({ history, status }) {
      offer('codes-known', history?.codes.map(({ code }) => code) ?? []);
      offer('operations-known', history?.operations.map(({ name }) => name) ?? []);
      offer('upstreams-known', Object.keys(status?.upstreams ?? {}));
    },
  };
}

function offer(id, values) {
  const list = place(id);
  const wanted = [...new Set(values)].sort();
  if ([...list.children].map((one) => one.value).join() === wanted.join()) return;
  list.replaceChildren(...wanted.map((value) => element('option', { value })));
}
