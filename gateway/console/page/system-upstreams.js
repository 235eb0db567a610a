// The upstreams and their targets, of each instance that is shown.

import { actionButton } from './actions.js';
import { element } from './elements.js';
import { clockWithSeconds, count } from './format.js';
import { addressOf } from './routes.js';
import {
  BREAKER_KINDS,
  credentialState,
  RETRIED_CREDENTIALS,
  stateOfTarget,
  stateText,
  TARGET_KINDS,
} from './states.js';
import { createTableOf, INSTANCE_COLUMN, ofAll, sumOf } from './system-table.js';

export function upstreams() {
  const keyOf = ({ upstream, mode, address }) => `${upstream} ${mode} ${address}`;
  return createTableOf('upstreams', ofAll(upstreamRows, keyOf, { outstanding: sumOf, waiting: sumOf }), {
    caption: 'Upstreams and their targets',
    empty: 'No upstream is configured.',
    keyOf: (row) => `${row.instance} ${keyOf(row)}`,
    hrefOf: ({ upstream }) => addressOf('upstreams', {}, upstream),
    sort: { key: 'upstream', descending: false },
    columns: [
      {
        key: 'upstream',
        label: 'Upstream',
        cell: (row) => `${row.upstream} (${row.mode})`,
        value: (row) => `${row.upstream} ${row.mode}`,
      },
      INSTANCE_COLUMN,
      { key: 'address', label: 'Target', long: true, cell: ({ address }) => address, value: ({ address }) => address },
      { key: 'state', label: 'State', long: true, cell: targetState, value: (row) => row.state },
      {
        key: 'breaker',
        label: 'Breaker',
        cell: (row) => stateText(BREAKER_KINDS, row.breaker),
        value: (row) => row.breaker,
      },
      {
        key: 'credential',
        label: 'Credential',
        cell: credentialCell,
        value: (row) => row.credential,
      },
      {
        key: 'outstanding',
        label: 'In progress',
        numeric: true,
        cell: (row) => `${count(row.outstanding)}${row.waiting ? `, ${count(row.waiting)} wait` : ''}`,
        value: (row) => row.outstanding,
      },
    ],
  });
}

/** With its last error, which says more than the state. */
function targetState(row) {
  const since = outUntil(row) || failingSince(row);
  const failures =
    row.consecutive_failures > 0
      ? `, ${count(row.consecutive_failures)} ${row.consecutive_failures === 1 ? 'failure' : 'failures in a row'}`
      : '';
  const known = stateText(TARGET_KINDS, stateOfTarget(row), since + failures);
  return row.last_error ? element('span', {}, known, element('span', { class: 'soft error' }, row.last_error)) : known;
}

function credentialCell(row) {
  const known = credentialState(row);
  if (!RETRIED_CREDENTIALS.has(row.credential)) return known;
  return element('span', {}, known, ' ', ...actionButton('retry-upstream', row.upstream));
}

function upstreamRows({ upstreams: known = {} }) {
  return Object.entries(known).flatMap(([upstream, { targets = [], breaker = {}, ...shared }]) =>
    targets.map((target) => ({ ...shared, ...target, upstream, breaker: breaker[target.mode] })),
  );
}

function failingSince({ state, failing_since: since }) {
  return state === 'failing' && since ? ` since ${clockWithSeconds(Date.parse(since))}` : '';
}

function outUntil({ ejected_until: until }) {
  return until ? ` until ${clockWithSeconds(Date.parse(until))}` : '';
}
