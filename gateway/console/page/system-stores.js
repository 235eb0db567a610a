// The stores and bounds of the gateway, of each instance that is shown.

import { element } from './elements.js';
import { count, withTimes } from './format.js';
import { stateText } from './states.js';
import { createTableOf, INSTANCE_COLUMN, ofAll, sumOf } from './system-table.js';

const STORE_KINDS = {
  ...{ reachable: undefined, up: undefined, normal: undefined, unused: 'off' },
  ...{ failing: 'bad', away: 'bad', empty: 'bad', overloaded: 'bad', shedding: 'warn' },
};

export function stores() {
  return createTableOf(
    'stores',
    ofAll(storeRows, ({ name }) => name, { figures: joinedFigures }),
    {
      caption: 'Stores and bounds of the gateway',
      empty: 'No process responded.',
      compact: true,
      keyOf: ({ instance, name }) => `${instance} ${name}`,
      columns: [
        { key: 'name', label: 'What' },
        INSTANCE_COLUMN,
        { key: 'state', label: 'State', cell: (row) => stateText(STORE_KINDS, row.state) },
        { key: 'more', label: 'Details', long: true, cell: detailsOf },
      ],
    },
  );
}

function storeRows({ overload = {}, issuers = {}, open_streams: streams = {} }, stored) {
  const { buffered_bytes: held = 0, buffered_bytes_max: heldMax = 0, loop_delay_ms: delay = 0 } = overload;
  const rows = [
    ...stored.map(({ name, state, details, lost, back }) => [
      name.slice(0, 1).toUpperCase() + name.slice(1),
      state,
      withTimes(details),
      undefined,
      lost && { lost: withTimes(lost), back },
    ]),
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
    .map(([name, state, more, figures, outage]) => ({ name, state, more, figures, outage }));
}

/**
 * Returns the details of an unavailable store: the reason, the answers to clients in the meantime, and what the gateway does by itself
 * afterwards.
 */
function detailsOf({ more, figures, outage }) {
  if (outage === undefined || outage === '') return textOf(figures) ?? more;
  return element(
    'span',
    {},
    ...(more === '' ? [] : [element('span', { class: 'below' }, more)]),
    element('span', { class: 'below' }, element('strong', {}, 'Clients now: '), outage.lost, '.'),
    element('span', { class: 'below soft' }, element('strong', {}, 'When it is back: '), outage.back),
  );
}

/** Joins the figures of several instances: the worst delay, and the sums of the others. */
function joinedFigures(all) {
  const [first] = all;
  if (first === undefined) return undefined;
  if ('delay' in first) return { delay: Math.max(...all.map(({ delay }) => delay)) };
  if ('held' in first)
    return { held: sumOf(all.map(({ held }) => held)), heldMax: sumOf(all.map(({ heldMax }) => heldMax)) };
  const kinds = [...new Set(all.flatMap(({ streams }) => Object.keys(streams)))];
  return { streams: Object.fromEntries(kinds.map((kind) => [kind, sumOf(all.map(({ streams }) => streams[kind]))])) };
}

/** Returns the text of the figures; undefined for a row without figures. */
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
