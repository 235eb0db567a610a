// The operations that are served: found by method, path, id, scope or upstream, each with its page and a request to try.

import { addressOf, pageOf, routeIn } from './addresses.js';
import { read } from './api.js';
import { drawn, element, place } from './elements.js';
import { count, NONE, operationLabel } from './format.js';
import { operationsFor } from './route-search.js';
import { createTable } from './tables.js';

/** The largest number of rows. The browser would need seconds for more. */
const ROWS_MAX = 300;

let all = [];

const show = createTable(place('routes-found'), {
  caption: 'Operations that are served',
  empty: 'No operation matches.',
  keyOf: ({ method, path }) => `${method} ${path}`,
  hrefOf: ({ method, path }) => pageOf('operations', `${method} ${path}`),
  columns: [
    {
      key: 'path',
      label: 'Operation',
      long: true,
      cell: (row) => operationLabel(`${row.method} ${row.path}`),
      value: true,
    },
    { key: 'id', label: 'Id', minor: true, cell: (row) => row.operation, value: (row) => row.operation },
    {
      key: 'scopes',
      label: 'Scopes',
      long: true,
      cell: (row) => (row.public ? 'public' : row.scopes.join(' ') || NONE),
      value: (row) => row.scopes.join(' '),
    },
    { key: 'limits', label: 'Limits', minor: true, cell: (row) => row.limits.join(', ') || NONE },
    {
      key: 'upstream',
      label: 'Upstream',
      cell: (row) => element('a', { class: 'inner', href: pageOf('upstreams', row.upstream) }, row.upstream),
      value: true,
    },
    { key: 'try', label: 'Try', cell: ({ method, path }) => explainLink(method, path) },
  ],
});

/** Makes a link with a sign and an accessible name, because the same words in every row would be noise. */
function explainLink(method, path) {
  const name = `Explain ${method} ${path}`;
  const sign = drawn(
    'svg',
    { viewBox: '0 0 20 20', 'aria-hidden': 'true' },
    drawn('circle', { cx: 8.5, cy: 8.5, r: 5.5 }),
    drawn('path', { d: 'M13 13l5 5' }),
  );
  const href = addressOf('explain', { method, target: path });
  return element('a', { class: 'inner icon', href, 'aria-label': name, title: name }, sign);
}

function filter(text) {
  const found = operationsFor(text, all);
  show(found.slice(0, ROWS_MAX));
  const shown = found.length > ROWS_MAX ? `, the first ${count(ROWS_MAX)} are shown` : '';
  place('routes-count').textContent = `${count(found.length)} of ${count(all.length)} operations${shown}.`;
}

place('routes-find').addEventListener('input', ({ target }) => {
  history.replaceState(null, '', addressOf('routes', { find: target.value }));
  filter(target.value);
});
place('routes-form').addEventListener('submit', (event) => event.preventDefault());

export async function showRoutes() {
  const text = routeIn(location.hash).params.get('find') ?? '';
  place('routes-find').value = text;
  all = (await read('routes'))?.routes ?? [];
  filter(text);
}
