// The tables of the overview: operations, codes, and organizations near their limits. Each row leads to its exchanges.

import { addressOf, pageOf, routeIn } from './addresses.js';
import { isSlow } from './attention.js';
import { sparkline } from './chart-kinds.js';
import { element, place, signed } from './elements.js';
import { count, operationLabel, operationName, quantile, rate } from './format.js';
import { createTable } from './tables.js';

/** Makes a number that leads to its exchanges. A failure has a sign. */
function countCell(number, params, isBad = false) {
  if (number === 0) return '0';
  const text = isBad ? signed('bad', count(number)) : count(number);
  const focus = JSON.stringify(params);
  return element('a', { href: addressOf('requests', params), class: 'inner', 'data-focus': focus }, text);
}

const OTHER_OPERATIONS = 'other operations';

/** Returns the order in the address, such as `p99`, or `-p99` for the least first; undefined if the reader has chosen none. */
function orderIn(address) {
  const [, sign, key] = /^(-?)(\w+)$/.exec(routeIn(address).params.get('sort') ?? '') ?? [];
  return key && { key, descending: sign === '' };
}

function keepOrder({ key, descending }) {
  const params = Object.fromEntries(routeIn(location.hash).params);
  history.replaceState(null, '', addressOf('overview', { ...params, sort: `${descending ? '' : '-'}${key}` }));
}

export function operationsTable() {
  const total = (key) => (row) => row.total[key];
  const isOne = ({ name }) => name !== OTHER_OPERATIONS;
  const show = createTable(place('operations'), {
    caption: 'Operations with the most requests',
    empty: 'No requests in this time.',
    onSort: keepOrder,
    keyOf: ({ name }) => name,
    hrefOf: (row) => (isOne(row) ? pageOf('operations', row.name) : undefined),
    columns: [
      {
        key: 'name',
        label: 'Operation',
        cell: ({ name }) => operationLabel(name),
        value: ({ name }) => operationName(name),
      },
      {
        key: 'total',
        label: 'Requests',
        numeric: true,
        cell: (row) => count(row.total.requests),
        value: total('requests'),
      },
      {
        key: 'rate',
        label: 'Per second',
        numeric: true,
        cell: (row) => rate(row.perSecond),
        value: (row) => row.perSecond,
      },
      { key: 'spark', label: 'Trend', minor: true, cell: (row) => sparkline(row.series.requests, row.slots) },
      { key: 'p50', label: 'p50', numeric: true, cell: (row) => quantile(row.total.p50_ms), value: total('p50_ms') },
      {
        key: 'p99',
        label: 'p99',
        numeric: true,
        cell: (row) => signed(row.isSlow ? 'warn' : undefined, quantile(row.total.p99_ms)),
        value: (row) => (row.isSlow ? 1e6 : 0) + row.total.p99_ms,
      },
      {
        key: 'refused',
        label: 'Refused',
        numeric: true,
        cell: (row) => numberOf(row, row.total.refused, 'refused'),
        value: total('refused'),
      },
      {
        key: 'failed',
        label: 'Failed',
        numeric: true,
        cell: (row) => numberOf(row, row.total.failed, 'service_failed'),
        value: total('failed'),
      },
    ],
  });

  function numberOf(row, number, status) {
    const isBad = status === 'service_failed';
    if (isOne(row)) return countCell(number, { operation: row.name, status }, isBad);
    return isBad && number > 0 ? signed('bad', count(number)) : count(number);
  }

  return ({ history, attention }) => {
    const rows = [...history.operations, ...(history.others ? [history.others] : [])];
    // What fails is the reason to look at the table.
    const slow = isSlow(attention) ? 'p99' : 'total';
    const usual = { key: rows.some(({ total }) => total.failed > 0) ? 'failed' : slow, descending: true };
    show(
      rows.map((row) => ({
        ...row,
        slots: history.slots,
        perSecond: row.total.requests / history.total_seconds,
        isSlow: isSlow(attention.filter(({ id }) => id === `slow ${row.name}`)),
      })),
      orderIn(location.hash) ?? usual,
    );
  };
}

export function codesTable() {
  // It is the order until the reader chooses another one.
  const sort = { key: 'total', descending: true };
  const show = createTable(place('codes'), {
    caption: 'Errors by code',
    empty: 'No errors in this time.',
    sort,
    keyOf: ({ stage, code }) => `${stage} ${code}`,
    // `upstream_own` stands for any code that an upstream has chosen. The link leads to all failed requests.
    hrefOf: ({ code }) =>
      code === 'upstream_own' ? addressOf('requests', { status: 'failed' }) : pageOf('codes', code),
    columns: [
      { key: 'code', label: 'Code', value: true },
      { key: 'stage', label: 'Stage', minor: true, value: true },
      { key: 'spark', label: 'Trend', minor: true, cell: ({ series, slots }) => sparkline(series, slots) },
      {
        key: 'minute',
        label: 'Last minute',
        numeric: true,
        optional: true,
        cell: ({ minute, status }) => signed(minute > 0 && status >= 500 ? 'bad' : undefined, minute && count(minute)),
        value: ({ minute, total }) => minute + total / 1e9,
      },
      { key: 'total', label: 'In this time', numeric: true, value: true },
    ],
  });
  return ({ attention, history }) => {
    const isPast = history.range === 'free';
    sort.key = attention.length > 0 && !isPast ? 'minute' : 'total';
    const minute = isPast && { minute: '' };
    show(history.codes.map((row) => ({ ...row, slots: history.slots, ...minute })));
  };
}

/** The name of an organization, if it is known, with its id beside. */
function organizationCell({ organization, name }) {
  if (name === undefined || name === organization) return organization;
  return element('span', {}, name, ' ', element('span', { class: 'soft' }, organization));
}

export function organizationsTable() {
  const show = createTable(place('organizations'), {
    caption: 'Organizations near a limit or beyond it in the last 15 minutes',
    empty: 'No organization came near a limit in the last 15 minutes.',
    keyOf: ({ organization, policy }) => `${organization} ${policy}`,
    hrefOf: ({ organization }) => (organization === 'anonymous' ? undefined : pageOf('organizations', organization)),
    columns: [
      {
        key: 'organization',
        label: 'Organization',
        cell: organizationCell,
        value: (row) => row.name ?? row.organization,
      },
      {
        key: 'refused',
        label: 'Refused',
        numeric: true,
        cell: (row) => countCell(row.refused, { organization: row.organization, code: 'rate_limited' }),
        value: true,
      },
      {
        key: 'shadow',
        label: 'Shadow',
        minor: true,
        numeric: true,
        cell: (row) => count(row.shadow_refused),
        value: (row) => row.shadow_refused,
      },
      { key: 'near', label: 'Near', minor: true, numeric: true, value: true },
      {
        key: 'left',
        label: 'Left',
        numeric: true,
        cell: (row) => (row.remaining <= 0.1 * row.limit ? signed('warn', count(row.remaining)) : count(row.remaining)),
        value: (row) => row.remaining / row.limit,
      },
      {
        key: 'limit',
        label: 'Limit',
        long: true,
        cell: (row) => `${row.policy}: ${count(row.limit)} in ${row.window_seconds} s`,
      },
    ],
  });
  return ({ organizations }) => show(organizations);
}
