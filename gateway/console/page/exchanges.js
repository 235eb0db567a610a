// Shows recent exchanges and their filters. The list follows new exchanges. The filters are in the address, so that a list has a link.

import { ALL, addressOf, pageOf } from './addresses.js';
import { follow, read } from './api.js';
import { element, outcomeOf, place, signed } from './elements.js';
import { clockWithSeconds, duration, moment, NONE, operationName, timeElement } from './format.js';
import { createTable } from './tables.js';

const LIVE_MS = 1500;
const FILTERS = ['status', 'code', 'operation', 'organization', 'key', 'client', 'upstream', 'min_ms'];

/**
 * The time in the gateway, of the upstream, and of a transfer to the client, as numbers and as a bar. The time of the upstream includes the
 * wait for an answer.
 */
function durationCell({ duration_ms: all, upstream_ms: answered, waited_ms: waited, transfer_ms: sent, longest }) {
  const upstream = answered ?? waited;
  const parts = { own: Math.max(0, all - upstream - sent), upstream, transfer: sent };
  const text = Object.values(parts)
    .filter((ms) => ms !== null)
    .map(duration)
    .join(' + ');
  const bar = element('span', { class: 'split', 'aria-hidden': 'true' });
  for (const [kind, ms] of Object.entries(parts)) {
    const part = element('span', { class: kind });
    part.style.width = `${(100 * ms) / Math.max(longest, 0.001)}%`;
    bar.append(part);
  }
  return element('span', { class: 'duration' }, text, bar);
}

/**
 * Shows the operation of a request, or its path if it has none; parts of the path that may be values are masked. A call by an agent has the
 * name of its tool, too.
 */
function operationCell({ operation, path, tool }) {
  if (tool)
    return element('span', {}, operationName(operation), element('span', { class: 'soft' }, ` by tool ${tool}`));
  if (!path) return operationName(operation);
  return element('span', {}, `${operation.split(' ')[0]} ${path}`, element('span', { class: 'soft' }, ' no operation'));
}

/** Shows the organization of a request, or the address of its client if it has none. */
function senderCell({ organization, client }) {
  if (organization === null && client === null) return NONE;
  const href = organization === null ? addressOf('requests', { client }) : pageOf('organizations', organization);
  return element('a', { class: 'inner', href }, organization ?? client);
}

/** Shows the status, and who is at fault: a word, because a service that failed must not look like a refusal by the gateway. */
function statusCell(row) {
  const [kind, word] = outcomeOf(row);
  if (kind === undefined) return String(row.status);
  return element('span', {}, signed(kind, String(row.status)), ' ', element('span', { class: `word ${kind}` }, word));
}

/** Makes a list of exchanges. `without` names columns that would be the same in every row. */
export function exchangeTable(container, { caption, empty, without = [], sort }) {
  const columns = [
    { key: 'time', label: 'Time', cell: ({ at }) => timeElement(at), value: (row) => row.at },
    { key: 'status', label: 'Status', cell: statusCell, value: true },
    { key: 'operation', label: 'Operation', long: true, cell: operationCell, value: true },
    { key: 'code', label: 'Code', cell: (row) => row.code ?? '', value: true },
    {
      key: 'organization',
      label: 'Organization or address',
      cell: senderCell,
      value: (row) => row.organization ?? row.client,
    },
    {
      key: 'duration',
      label: 'Gateway + upstream + client',
      numeric: true,
      cell: durationCell,
      value: (row) => row.duration_ms,
    },
    { key: 'id', label: 'Request id', minor: true, cell: (row) => element('code', {}, row.request_id) },
  ];
  const show = createTable(container, {
    ...{ caption, empty, compact: true, sort: sort ?? { key: 'time', descending: true } },
    keyOf: (row) => row.request_id,
    hrefOf: (row) => pageOf('requests', row.request_id),
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
  const chips = place('chips');
  let stop = () => undefined;
  let show;

  const paramsIn = () => {
    const values = FILTERS.map((name) => [name, form.elements[name].value.trim()]);
    const now = new URLSearchParams(location.hash.split('?')[1] ?? '');
    const kept = ['from', 'to', 'sort', 'instance'].map((name) => [name, now.get(name)]);
    return Object.fromEntries([...values, ...kept]);
  };

  function apply(params = paramsIn()) {
    const address = addressOf('requests', params);
    if (address !== location.hash) history.replaceState(null, '', address);
    showChips();
    begin();
  }

  function begin() {
    stop();
    const { sort: _sort, ...asked } = paramsIn();
    const ask = () => read('exchanges', { ...asked, instance: asked.instance ?? ALL });
    stop = follow(ask, LIVE_MS, {
      ...tell,
      answer({ exchanges: rows }) {
        tell.answer();
        show(rows);
        const total = rows.length === 100 ? 'The latest 100' : `${rows.length}`;
        place('exchanges-count').textContent =
          `${total} ${rows.length === 1 ? 'request' : 'requests'}${rows.length > 0 ? `, back to ${moment(rows.at(-1).at)}` : ''}.`;
      },
    });
  }

  /** The filters of the list. Each one has a button that removes it. */
  function showChips() {
    const params = paramsIn();
    const filters = FILTERS.filter((name) => params[name]).map((name) => {
      const field = form.elements[name];
      const value = field.selectedOptions?.[0].text ?? params[name];
      return [`${field.labels[0].textContent}: ${value}`, { [name]: undefined }];
    });
    const { from, to } = params;
    const time = from || to ? [[windowName(from, to), { from: undefined, to: undefined }]] : [];
    const all = [...time, ...filters];
    const buttons = [...all.map(chip), ...(all.length > 1 ? [clearing()] : [])];
    chips.replaceChildren(...buttons.map((button) => element('li', {}, button)));
    chips.hidden = all.length === 0;
  }

  function chip([text, without]) {
    const sign = element('span', { 'aria-hidden': 'true' }, ' ✕');
    const button = element('button', { type: 'button', class: 'chip', 'aria-label': `Remove ${text}` }, text, sign);
    button.addEventListener('click', () => takeAway(Object.keys(without)));
    return button;
  }

  function clearing() {
    const button = element('button', { type: 'button', class: 'chip plain' }, 'Remove all');
    button.addEventListener('click', () => takeAway([...FILTERS, 'from', 'to']));
    return button;
  }

  function takeAway(names) {
    for (const name of names) if (FILTERS.includes(name)) form.elements[name].value = '';
    apply({ ...paramsIn(), ...Object.fromEntries(names.map((name) => [name, undefined])) });
    (chips.querySelector('button') ?? form.elements.status).focus();
  }

  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('change', () => apply());

  return {
    open(params) {
      for (const name of FILTERS) form.elements[name].value = params.get(name) ?? '';
      showChips();
      const sort = params.get('sort') === 'duration' ? { key: 'duration', descending: true } : undefined;
      // The table is new each time, because it must not keep rows of other filters.
      show = exchangeTable(place('exchange-list'), {
        caption: 'Recent requests',
        empty: 'No remembered request matches these filters.',
        sort,
      });
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

function windowName(from, to) {
  const text = (iso, otherwise) => (iso ? clockWithSeconds(Date.parse(iso)) : otherwise);
  return `From ${text(from, 'the beginning')} to ${text(to, 'now')}`;
}

function offer(id, values) {
  const list = place(id);
  const wanted = [...new Set(values)].sort();
  if ([...list.children].map((one) => one.value).join() === wanted.join()) return;
  list.replaceChildren(...wanted.map((value) => element('option', { value })));
}
