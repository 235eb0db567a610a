// The state of the gateway and its dependencies. Each panel is created once, and updated with every feed.

import { actionButton } from './actions.js';
import { element, link, place, state } from './elements.js';
import { ago, clockWithSeconds, count, day, moment, NONE, timeElement } from './format.js';
import { addressOf } from './routes.js';
import { breakerKinds, credentialKinds, stateOfTarget, targetKinds, worded } from './states.js';
import { createTable } from './tables.js';

/** @returns a function that shows a feed in all panels */
export function system() {
  const shows = [
    upstreams(),
    stores(),
    configuration(),
    instances(),
    workers(),
    certificates(),
    versions(),
    everything(),
  ];
  return (feed) => {
    for (const show of shows) show(feed);
  };
}

/** A table of rows taken from each feed. */
function createTableOf(id, rowsIn, options) {
  const show = createTable(place(id), options);
  return (feed) => show(rowsIn(feed));
}

function upstreams() {
  return createTableOf('upstreams', upstreamRows, {
    caption: 'Upstreams and their targets',
    empty: 'No upstream is configured.',
    keyOf: (row) => `${row.instance} ${row.upstream} ${row.mode} ${row.address}`,
    hrefOf: ({ upstream }) => addressOf('upstreams', {}, upstream),
    columns: [
      {
        key: 'upstream',
        label: 'Upstream',
        cell: (row) => `${row.upstream} (${row.mode})`,
        value: (row) => `${row.upstream} ${row.mode}`,
      },
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
  const failures = row.consecutive_failures > 0 ? `, ${count(row.consecutive_failures)} failures in a row` : '';
  const known = worded(targetKinds, stateOfTarget(row), since + failures);
  return row.last_error ? element('span', {}, known, element('span', { class: 'soft error' }, row.last_error)) : known;
}

function credentialState({ upstream, credential }) {
  const known = worded(credentialKinds, credential);
  if (credential !== 'latched') return known;
  return element('span', {}, known, ' ', ...actionButton('retry-upstream', upstream));
}

function upstreamRows({ statuses }) {
  return statuses.flatMap(({ instance, status }) =>
    Object.entries(status?.upstreams ?? {}).flatMap(([upstream, { targets = [], breaker = {}, credential, waiting }]) =>
      targets.map((target) => ({ ...target, instance, upstream, breaker: breaker[target.mode], credential, waiting })),
    ),
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

function stores() {
  return createTableOf('stores', storeRows, {
    caption: 'Stores and bounds of the gateway',
    empty: 'No process responded.',
    keyOf: ({ name }) => name,
    columns: [
      { key: 'name', label: 'What', cell: ({ name }) => name },
      { key: 'state', label: 'State', cell: (row) => worded(storeKinds, row.state) },
      { key: 'more', label: 'Details', long: true, cell: ({ more }) => more },
    ],
  });
}

function storeRows({ status }) {
  if (status === null) return [];
  const { keys = {}, limits = {}, idempotency = {}, deprecated_uses: uses = {}, overload = {}, issuers = {} } = status;
  const { open_streams: streams = {} } = status;
  const megabytes = (bytes) => `${(bytes / 1_048_576).toFixed(bytes < 10_485_760 ? 1 : 0)} MiB`;
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
    ['Event loop', overload.loop_overloaded ? 'overloaded' : 'normal', `${overload.loop_delay_ms ?? 0} ms late`],
    ['Open streams', total(streams) === 0 ? 'none' : 'open', streamsOf(streams)],
    [
      'Bodies held',
      overload.shedding ? 'shedding' : 'normal',
      `${megabytes(overload.buffered_bytes ?? 0)} of ${megabytes(overload.buffered_bytes_max ?? 0)}`,
    ],
  ];
  return rows.filter(([, known]) => known !== undefined).map(([name, known, more]) => ({ name, state: known, more }));
}

function total(streams) {
  return Object.values(streams).reduce((sum, open) => sum + open, 0);
}

function streamsOf({ events = 0, lines = 0, websocket = 0 }) {
  return `${count(events)} event streams, ${count(lines)} JSON lines, ${count(websocket)} WebSockets`;
}

function configuration() {
  return ({ status }) => {
    const { version, loaded_at, last_failure: failure } = status?.configuration ?? {};
    const started = status?.started_at;
    const rows = [
      ['Version in force', version ?? NONE],
      ['Loaded', loaded_at ? timeElement(loaded_at, `${moment(loaded_at)}, ${ago(loaded_at)}`) : NONE],
      ['Running since', started ? timeElement(started, `${moment(started)}, ${ago(started)}`) : NONE],
      ['Operations', status?.operations ?? NONE],
      ['Alerts', status ? receiversLink(status) : NONE],
      ['Last reload', failure ? lastReload(failure) : 'the files are in force'],
    ];
    const list = element('dl', { class: 'facts' });
    for (const [name, value] of rows)
      list.append(element('div', {}, element('dt', {}, name), element('dd', {}, value)));
    const mistakes = (failure?.mistakes ?? []).map((mistake) => element('li', {}, mistake));
    const told =
      mistakes.length > 0
        ? [
            element('h3', {}, failure.needs_restart ? 'Changes' : 'Mistakes'),
            element('ol', { class: 'mistakes' }, ...mistakes),
          ]
        : [];
    const next = element('div', {}, list, ...told);
    if (next.innerHTML !== place('configuration').innerHTML) place('configuration').replaceChildren(...next.childNodes);
  };
}

function lastReload({ at, needs_restart: needsRestart }) {
  return needsRestart
    ? state('warn', `waits for a restart since ${moment(at)}`)
    : state('bad', `refused at ${moment(at)}`);
}

/** Without receivers the status has no alerts. */
function receiversLink({ alerts }) {
  const receivers = Object.keys(alerts?.receivers ?? {}).length;
  const told = receivers === 1 ? '1 receiver' : `${count(receivers)} receivers`;
  return link(addressOf('alerts'), receivers === 0 ? state('warn', 'no one is told') : told);
}

/** The gateways that share a Redis. */
function instances() {
  const show = createTable(place('instances'), {
    caption: 'Instances that share the Redis of this one',
    empty: 'There is one instance.',
    keyOf: ({ id }) => id,
    columns: [
      {
        key: 'name',
        label: 'Instance',
        cell: (row) => `${row.name}${row.id === row.here ? ', this one' : ''}`,
        value: ({ name }) => name,
      },
      { key: 'version', label: 'Version', cell: ({ version }) => version, value: ({ version }) => version },
      {
        key: 'started',
        label: 'Started',
        cell: (row) => ago(row.started_at),
        value: (row) => row.started_at,
      },
    ],
  });
  return ({ instances: all, here }) => {
    place('instances-section').hidden = all.length < 2;
    show(all.map((row) => ({ ...row, here })));
  };
}

const workerKinds = { serving: undefined, starting: 'warn', ending: 'warn', waiting: 'bad', silent: 'bad' };

function workers() {
  const show = createTable(place('workers'), {
    caption: 'Worker processes',
    empty: 'There is one process.',
    keyOf: ({ worker, pid }) => `${worker} ${pid}`,
    columns: [
      { key: 'worker', label: 'Worker', cell: (row) => String(row.worker), value: (row) => row.worker },
      { key: 'state', label: 'State', cell: (row) => worded(workerKinds, row.state), value: (row) => row.state },
      { key: 'pid', label: 'Process', numeric: true, cell: (row) => String(row.pid ?? NONE), value: (row) => row.pid },
      {
        key: 'since',
        label: 'Since',
        cell: (row) => (row.since ? ago(row.since) : NONE),
        value: (row) => row.since,
      },
      {
        key: 'restarts',
        label: 'Restarts',
        numeric: true,
        cell: (row) => count(row.restarts),
        value: (row) => row.restarts,
      },
      {
        key: 'configuration',
        label: 'Configuration',
        cell: (row) => row.configuration ?? NONE,
        value: (row) => row.configuration,
      },
    ],
  });
  return ({ status }) => {
    place('workers-section').hidden = status?.workers === undefined;
    show(status?.workers ?? []);
  };
}

function certificates() {
  const kinds = { valid: undefined, expiring: 'warn', expired: 'bad', revoked: 'bad', missing: 'bad' };
  return createTableOf('certificates', ({ status }) => status?.certificates ?? [], {
    caption: 'Certificates of the public listener',
    empty: 'The public listener is without TLS.',
    keyOf: ({ names }) => names.join(),
    sort: { key: 'days', descending: false },
    columns: [
      { key: 'names', label: 'Names', cell: ({ names }) => names.join(', '), value: ({ names }) => names[0] },
      {
        key: 'days',
        label: 'Days left',
        numeric: true,
        cell: (row) =>
          state(
            row.state in kinds ? kinds[row.state] : 'off',
            row.days_left === null ? row.state : String(row.days_left),
          ),
        value: (row) => row.days_left ?? -1e9,
      },
      { key: 'expires', label: 'Expires', cell: (row) => (row.expires_at ? day(Date.parse(row.expires_at)) : '–') },
      { key: 'renews', label: 'Renews', cell: (row) => (row.renews_at ? day(Date.parse(row.renews_at)) : '–') },
      { key: 'failure', label: 'Last failure', cell: (row) => row.last_failure?.reason ?? '–' },
    ],
  });
}

const lifeKinds = { announced: 'off', deprecated: 'warn', ended: 'bad' };

function versions() {
  return createTableOf('versions', ({ versions }) => versions?.operations ?? [], {
    caption: 'Deprecated operations and who still calls them, in the last 90 days',
    empty: 'No operation is deprecated.',
    keyOf: ({ operation }) => operation,
    columns: [
      { key: 'operation', label: 'Operation', cell: (row) => row.operation, value: (row) => row.operation },
      {
        key: 'state',
        label: 'State',
        cell: (row) => worded(lifeKinds, row.state, row.sunset ? `, ends ${day(Date.parse(row.sunset))}` : ''),
        value: (row) => row.state,
      },
      { key: 'calls', label: 'Calls', numeric: true, cell: (row) => count(row.calls), value: (row) => row.calls },
      {
        key: 'organizations',
        label: 'Organizations',
        numeric: true,
        cell: (row) => count(row.organizations),
        value: (row) => row.organizations,
      },
      {
        key: 'last',
        label: 'Last call',
        minor: true,
        cell: (row) => (row.last_call_at ? ago(row.last_call_at) : NONE),
        value: (row) => row.last_call_at,
      },
    ],
  });
}

/** Keeps the text unchanged while it is open, so that a selection or scroll position is not lost. */
function everything() {
  const details = place('status').closest('details');
  // It scrolls, which must also be possible with the keyboard.
  place('status').tabIndex = 0;
  let latest;
  const show = () => {
    place('status').textContent = JSON.stringify(latest, null, 2);
  };
  details.addEventListener('toggle', show);
  return ({ status }) => {
    latest = status;
  };
}
