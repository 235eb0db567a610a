// Shows alerts: the alerts that receivers have now, the silences, and whether the receivers accept messages.

import { actionButton } from './actions.js';
import { read } from './api.js';
import { leadsOf, lineOf } from './attention.js';
import { commandLine, element, linkTo, place, signed } from './elements.js';
import { NONE, timeElement, words } from './format.js';
import { createTable } from './tables.js';

const SEVERITY_MARKS = { failure: 'bad', warning: 'warn' };

const FIRST_RECEIVER = [
  'alerts:',
  '  receivers:',
  '    pager:',
  '      webhook: { url: https://alerts.example.com/gateway, secret: pager_key }',
].join('\n');

place('alerts-none').append(
  lineOf(
    'warn',
    element('strong', {}, 'No receivers.'),
    ' Failures are shown on these pages only. Add a webhook or an email address to gateway.yaml:',
    commandLine(FIRST_RECEIVER),
    linkTo('runbook', 'Alerts', 'How to make the key and test the receiver'),
  ),
);

/** A quiet alert has no colour, because its cause is over. Its end is sent unless the cause returns first. */
function causeCell({ severity, cause, quiet_since: since, resolved_at: at }) {
  if (since === null) return signed(SEVERITY_MARKS[severity], cause);
  const end = ['Quiet since ', timeElement(since), '; its end is sent at ', timeElement(at), ', unless it returns.'];
  return element('span', { class: 'soft' }, cause, element('br'), signed('off', element('span', {}, ...end)));
}

const showCauses = createTable(place('alerts-now'), {
  caption: 'Current alerts',
  empty: 'No alerts at present.',
  keyOf: ({ id }) => id,
  columns: [
    { key: 'cause', label: 'Cause', long: true, cell: causeCell },
    { key: 'id', label: 'Id', minor: true, value: true },
    { key: 'since', label: 'Since', cell: ({ since }) => timeElement(since), value: true },
    {
      key: 'told',
      label: 'Sent to',
      cell: ({ silent, told }) => (silent ? 'silent' : told.join(', ') || 'not sent yet'),
    },
    { key: 'leads', label: 'Look at', long: true, optional: true },
    {
      key: 'act',
      label: 'Action',
      optional: true,
      cell: ({ id }) => actionButton('silence-alerts', id, { done: renew })[0] ?? '',
    },
  ],
});

const showSilences = createTable(place('alerts-silences'), {
  caption: 'Silences',
  empty: 'No silences.',
  keyOf: ({ causes }) => causes,
  columns: [
    { key: 'causes', label: 'Causes' },
    { key: 'until', label: 'Until', cell: ({ until }) => timeElement(until) },
    { key: 'by', label: 'By' },
    { key: 'reason', label: 'Reason', long: true || NONE },
    {
      key: 'act',
      label: 'Action',
      optional: true,
      cell: ({ causes }) => actionButton('silence-alerts', causes, { text: 'end-silence', done: renew })[0] ?? '',
    },
  ],
});

const showReceivers = createTable(place('alerts-receivers'), {
  caption: 'Receivers',
  empty: 'The configuration names no receiver.',
  keyOf: ({ name }) => name,
  columns: [
    { key: 'name', label: 'Receiver', cell: ({ name, kind }) => `${name} (${kind})` },
    {
      key: 'state',
      label: 'State',
      long: true,
      cell: ({ state, reason }) =>
        signed(state === 'ok' ? undefined : 'bad', reason === null ? state : `${words(state)}: ${reason}`),
    },
    { key: 'last', label: 'Last delivered', cell: ({ last_message_at: at }) => (at === null ? NONE : timeElement(at)) },
  ],
});

/** Shows the causes in the latest feed, because the causes say where to look and what to do. */
let latestCauses = [];

const renew = () => void showAlerts().catch(() => undefined);

function leadsTo({ id }) {
  const leads = leadsOf(latestCauses.find((cause) => cause.id === id) ?? {});
  return leads.length === 0 ? '' : element('span', { class: 'leads' }, ...leads);
}

/** @param feed the latest one, if there is one */
export async function showAlerts(feed) {
  if (feed !== undefined) latestCauses = feed.attention;
  const found = await read('alerts');
  if (found === undefined) return;
  const isTold = Object.keys(found.receivers).length > 0;
  place('alerts-none').hidden = isTold;
  place('alerts-now').hidden = !isTold;
  showCauses(found.alerts.map((alert) => ({ ...alert, leads: leadsTo(alert) })));
  showSilences(found.silences);
  showReceivers(Object.entries(found.receivers).map(([name, receiver]) => ({ name, ...receiver })));
}
