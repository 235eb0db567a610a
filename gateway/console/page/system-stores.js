// The upstreams and stores of the gateway, of each instance that is shown.

import { actionButton } from './actions.js';
import { element } from './elements.js';
import { clockWithSeconds, count, moment } from './format.js';
import { addressOf } from './routes.js';
import { breakerKinds, credentialKinds, retriedCredentials, stateOfTarget, targetKinds, worded } from './states.js';
import { createTableOf, instanceColumn, ofAll, sumOf } from './system-table.js';

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
      instanceColumn,
      { key: 'address', label: 'Target', long: true, cell: ({ address }) => address, value: ({ address }) => address },
      { key: 'state', label: 'State', long: true, cell: targetState, value: (row) => row.state },
      {
        key: 'breaker',
        label: 'Breaker',
        cell: (row) => worded(breakerKinds, row.breaker),
        value: (row) => row.breaker,
      },
      {
        key: 'credential',
        label: 'Credential',
        cell: credentialState,
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
  const known = worded(targetKinds, stateOfTarget(row), since + failures);
  return row.last_error ? element('span', {}, known, element('span', { class: 'soft error' }, row.last_error)) : known;
}

function credentialState({ upstream, credential }) {
  const known = worded(credentialKinds, credential);
  if (!retriedCredentials.has(credential)) return known;
  return element('span', {}, known, ' ', ...actionButton('retry-upstream', upstream));
}

function upstreamRows({ upstreams: known = {} }) {
  return Object.entries(known).flatMap(([upstream, { targets = [], breaker = {}, credential, waiting }]) =>
    targets.map((target) => ({ ...target, upstream, breaker: breaker[target.mode], credential, waiting })),
  );
}

function failingSince({ state, failing_since: since }) {
  return state === 'failing' && since ? ` since ${clockWithSeconds(Date.parse(since))}` : '';
}

function outUntil({ ejected_until: until }) {
  return until ? ` until ${clockWithSeconds(Date.parse(until))}` : '';
}

const storeKinds = {
  ...{ reachable: undefined, up: undefined, normal: undefined, unused: 'off' },
  ...{ failing: 'bad', away: 'bad', overloaded: 'bad', shedding: 'warn' },
};

export function stores() {
  return createTableOf(
    'stores',
    ofAll(storeRows, ({ name }) => name, { figures: joinedFigures }),
    {
      caption: 'Stores and bounds of the gateway',
      empty: 'No process responded.',
      keyOf: ({ instance, name }) => `${instance} ${name}`,
      columns: [
        { key: 'name', label: 'What', cell: ({ name }) => name },
        instanceColumn,
        { key: 'state', label: 'State', cell: (row) => worded(storeKinds, row.state) },
        { key: 'more', label: 'Details', long: true, cell: ({ more, figures }) => textOf(figures) ?? more },
      ],
    },
  );
}

function storeRows(status) {
  const { keys = {}, limits = {}, idempotency = {}, deprecated_uses: uses = {}, overload = {}, issuers = {} } = status;
  const { open_streams: streams = {} } = status;
  const { buffered_bytes: held = 0, buffered_bytes_max: heldMax = 0, loop_delay_ms: delay = 0 } = overload;
  const rows = [
    ['Keys', keys.store, keys.grace_ends_at ? `cached keys are valid until ${moment(keys.grace_ends_at)}` : ''],
    [
      'Limits',
      limits.state,
      limits.policyInForce
        ? `decided by the policy ${limits.policyInForce}: ${limits.reason ?? ''}`
        : (limits.kind ?? ''),
    ],
    ['Idempotent responses', idempotency.state, idempotency.kind ?? ''],
    ['Calls of deprecated operations', uses.state, uses.waiting ? `waiting to be written: ${uses.waiting}` : ''],
    ...Object.entries(issuers).map(([name, issuer]) => [
      `Tokens of ${name}`,
      issuer.failure ? 'failing' : 'reachable',
      issuer.failure ?? '',
    ]),
    ['Event loop', overload.loop_overloaded ? 'overloaded' : 'normal', '', { delay }],
    ['Open streams', total(streams) === 0 ? 'none' : 'open', '', { streams }],
    ['Bodies held', overload.shedding ? 'shedding' : 'normal', '', { held, heldMax }],
  ];
  return rows
    .filter(([, known]) => known !== undefined)
    .map(([name, known, more, figures]) => ({ name, state: known, more, figures }));
}

/** The figures of several instances: the worst delay, and the sums of the rest. */
function joinedFigures(all) {
  const [first] = all;
  if (first === undefined) return undefined;
  if ('delay' in first) return { delay: Math.max(...all.map(({ delay }) => delay)) };
  if ('held' in first)
    return { held: sumOf(all.map(({ held }) => held)), heldMax: sumOf(all.map(({ heldMax }) => heldMax)) };
  const kinds = [...new Set(all.flatMap(({ streams }) => Object.keys(streams)))];
  return { streams: Object.fromEntries(kinds.map((kind) => [kind, sumOf(all.map(({ streams }) => streams[kind]))])) };
}

/** Undefined for a row without figures. */
function textOf(figures) {
  if (figures === undefined) return undefined;
  const { delay, held, heldMax, streams } = figures;
  if (delay !== undefined) return `${delay} ms late`;
  if (streams !== undefined) return streamsOf(streams);
  const megabytes = (bytes) => `${(bytes / 1_048_576).toFixed(bytes < 10_485_760 ? 1 : 0)} MiB`;
  return `${megabytes(held)} of ${megabytes(heldMax)}`;
}

function total(streams) {
  return Object.values(streams).reduce((sum, open) => sum + open, 0);
}

function streamsOf({ events = 0, lines = 0, websocket = 0 }) {
  return `${count(events)} event streams, ${count(lines)} JSON lines, ${count(websocket)} WebSockets`;
}
