// The state of the gateway and its dependencies. Each panel is created once, and updated with every feed.

import { actionButton } from './actions.js';
import { addressOf } from './addresses.js';
import { showCauses } from './attention.js';
import { causesAbout } from './causes-about.js';
import { element, factsIn, link, place, refill, signed } from './elements.js';
import { ago, count, day, NONE, timeAgo, timeElement } from './format.js';
import { versionCell, versionsIn } from './instance-versions.js';
import { lastReload, mistakesOf } from './last-reload.js';
import { stateText } from './states.js';
import { stores } from './system-stores.js';
import { createTableOf, INSTANCE_COLUMN, ofAll, ofEach } from './system-table.js';
import { upstreams } from './system-upstreams.js';
import { createTable } from './tables.js';

/** @returns a function that shows a feed in all panels */
export function system() {
  const shows = [
    causes(),
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

/** Shows the causes that concern this page. */
const causes =
  () =>
  ({ attention }) =>
    showCauses(place('system-causes'), causesAbout(attention, { view: 'system' }), ({ view }) => view === 'system');

function configuration() {
  return ({ statuses }) => {
    // An instance that refused a change is shown first.
    const { instance, status } =
      statuses.find((one) => one.status?.configuration?.last_failure) ?? statuses.find((one) => one.status) ?? {};
    const { version, loaded_at, last_failure: failure } = status?.configuration ?? {};
    const started = status?.started_at;
    const rows = [
      ...(statuses.length > 1 ? [['Of the instance', instance ?? NONE]] : []),
      ['Version in force', version ?? NONE],
      ['Loaded', loaded_at ? timeAgo(loaded_at) : NONE],
      ['Running since', started ? timeAgo(started) : NONE],
      ['Operations', status?.operations ?? NONE],
      ['Alerts', status ? receiversLink(status) : NONE],
      ['Last reload', failure ? lastReload(failure) : 'the files are in force'],
    ];
    refill(place('configuration'), element('div', {}, factsIn(rows, { class: 'facts' }), ...mistakesOf(failure)));
  };
}

/** Returns the summary of the receivers. The status has no alerts if there are no receivers. */
function receiversLink({ alerts }) {
  const receivers = Object.keys(alerts?.receivers ?? {}).length;
  const told = receivers === 1 ? '1 receiver' : `${count(receivers)} receivers`;
  return link(addressOf('alerts'), receivers === 0 ? signed('warn', 'no receivers') : told);
}

/** Shows the gateways that share a Redis. */
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
        value: true,
      },
      { key: 'version', label: 'Version', value: true },
      { key: 'started', label: 'Started', cell: (row) => ago(row.started_at), value: (row) => row.started_at },
      { key: 'state', label: 'State', cell: instanceState, value: (row) => row.missing_since ?? '' },
      { key: 'configuration', label: 'Configuration', optional: true, cell: versionCell },
      {
        key: 'act',
        label: 'Action',
        optional: true,
        cell: ({ name, missing_since: since }) =>
          (since && actionButton('silence-alerts', `instance ${name}`, { text: 'forget-instance' })[0]) ?? '',
      },
    ],
  });
  return (feed) => {
    const { instances: all, here, without, can_ask: canAsk } = feed;
    const isUnasked = ({ name }) => !canAsk && without.includes(name);
    place('instances-section').hidden = all.length < 2;
    const versions = versionsIn(feed);
    show(
      all.map((row) => ({
        ...{ ...row, ...versions.find(({ instance }) => instance === row.name), here },
        isUnasked: isUnasked(row),
      })),
    );
  };
}

function instanceState({ missing_since: since, isUnasked }) {
  if (isUnasked) return signed('warn', 'cannot be queried while Redis is away');
  if (since === undefined) return 'answers';
  return signed('bad', element('span', {}, 'missing since ', timeElement(since)));
}

const WORKER_KINDS = {
  serving: undefined,
  starting: 'warn',
  ending: 'warn',
  waiting: 'bad',
  silent: 'bad',
  ended: 'off',
};

function workers() {
  const show = createTableOf('workers', ofEach(workersIn), {
    caption: 'Worker processes',
    empty: 'There is one process.',
    keyOf: ({ instance, worker, pid }) => `${instance} ${worker} ${pid}`,
    columns: [
      { key: 'worker', label: 'Worker', cell: (row) => String(row.worker), value: true },
      INSTANCE_COLUMN,
      { key: 'state', label: 'State', cell: (row) => stateText(WORKER_KINDS, row.state), value: true },
      { key: 'pid', label: 'Process', numeric: true, cell: (row) => String(row.pid ?? NONE), value: true },
      { key: 'since', label: 'Since', cell: (row) => (row.since ? ago(row.since) : NONE), value: true },
      { key: 'restarts', label: 'Restarts', numeric: true, value: true },
      { key: 'configuration', label: 'Configuration', cell: (row) => row.configuration ?? NONE, value: true },
    ],
  });
  return (feed) => {
    place('workers-section').hidden = feed.status?.workers === undefined;
    show(feed);
  };
}

const workersIn = ({ workers: known = [] }) => known;

function certificates() {
  const kinds = { valid: undefined, expiring: 'warn', expired: 'bad', revoked: 'bad', missing: 'bad' };
  return createTableOf(
    'certificates',
    ofAll(certificatesIn, ({ names }) => names.join()),
    {
      caption: 'Certificates of the public listener',
      empty: 'The public listener does not use TLS.',
      keyOf: ({ instance, names }) => `${instance} ${names.join()}`,
      sort: { key: 'days', descending: false },
      columns: [
        {
          key: 'names',
          label: 'Names',
          long: true,
          cell: ({ names, file }) =>
            element(
              'span',
              {},
              names.join(', '),
              element('span', { class: 'below soft' }, file ?? 'ordered by the gateway'),
            ),
          value: ({ names }) => names[0],
        },
        INSTANCE_COLUMN,
        {
          key: 'days',
          label: 'Days left',
          numeric: true,
          cell: (row) =>
            signed(
              row.state in kinds ? kinds[row.state] : 'off',
              row.days_left === null ? row.state : String(row.days_left),
            ),
          value: (row) => row.days_left ?? -1e9,
        },
        { key: 'expires', label: 'Expires', cell: (row) => (row.expires_at ? day(Date.parse(row.expires_at)) : '–') },
        { key: 'renews', label: 'Renews', cell: (row) => (row.renews_at ? day(Date.parse(row.renews_at)) : '–') },
        { key: 'failure', label: 'Last failure', cell: (row) => row.last_failure?.reason ?? '–' },
      ],
    },
  );
}

const certificatesIn = ({ certificates: known = [] }) => known;

const LIFE_KINDS = { announced: 'off', deprecated: 'warn', ended: 'bad' };

function versions() {
  return createTableOf('versions', ({ versions }) => versions?.operations ?? [], {
    caption: 'Deprecated operations and who still calls them, in the last 90 days',
    empty: 'No operation is deprecated.',
    keyOf: ({ operation }) => operation,
    columns: [
      { key: 'operation', label: 'Operation', value: true },
      {
        key: 'state',
        label: 'State',
        cell: (row) => stateText(LIFE_KINDS, row.state, row.sunset ? `, ends ${day(Date.parse(row.sunset))}` : ''),
        value: true,
      },
      { key: 'calls', label: 'Calls', numeric: true, value: true },
      { key: 'organizations', label: 'Organizations', numeric: true, value: true },
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

/** Keeps the text unchanged while it is open, so that the reader keeps a selection and the scroll position. */
function everything() {
  const details = place('status').closest('details');
  // The element scrolls, so the keyboard has to reach it.
  place('status').tabIndex = 0;
  let latest;
  const show = () => {
    place('status').textContent = JSON.stringify(latest, null, 2);
  };
  details.addEventListener('toggle', show);
  return ({ status, statuses }) => {
    latest = statuses.length > 1 ? statuses : status;
  };
}
