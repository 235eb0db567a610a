// The first view: what needs attention, the last minute, and the traffic of a range. Every number leads to its exchanges.

import { addressOf, routeIn } from './addresses.js';
import { attentionLine, lineOf } from './attention.js';
import { element, place } from './elements.js';
import { ago, bytes, operationName } from './format.js';
import { causesIn, createHappened } from './happened.js';
import { codesTable, operationsTable, organizationsTable } from './overview-tables.js';
import { tiles } from './tiles.js';
import { createTrafficCharts } from './traffic-charts.js';

const EVERYTHING = 'all operations';

/** Shows what needs attention. Screen readers announce it only when it changes. */
function attention() {
  let told;
  return ({ attention: present, history, listed, status, statuses }) => {
    const isPast = history?.range === 'free';
    const causes = isPast ? causesIn({ history, listed }) : present;
    const found = causes.map((cause) => attentionLine({ ...cause, next: undefined }));
    if (found.length === 0 && status === null) found.push(lineOf('warn', 'No instance has responded yet.'));
    const isBad = causes.some(({ kind }) => kind === 'bad');
    place('attention-title').firstChild.data = isPast ? 'Needed attention in this time ' : 'Needs attention ';
    place('attention-count').textContent = causes.length || '';
    place('attention-count').classList.toggle('bad', isBad);
    if (found.length === 0) found.push(isPast ? lineOf('good', 'Nothing is known.') : wellLine(statuses));
    const key = found.map(({ outerHTML }) => outerHTML).join();
    if (key === told) return;
    told = key;
    place('attention').replaceChildren(...found);
  };
}

/** Returns the sentence about targets without a cause, whose last request failed. */
function wellLine(statuses) {
  // `states.js` has the states for the other views.
  const isSuspect = ({ state, last_error: error }) => state === 'healthy' && error;
  const names = statuses.flatMap(({ status }) =>
    Object.entries(status?.upstreams ?? {}).flatMap(([name, { targets = [] }]) =>
      targets.some(isSuspect) ? [name] : [],
    ),
  );
  if (names.length === 0)
    return lineOf('good', 'Nothing needs attention. ', element('span', { class: 'soft' }, workingIn(statuses)));
  const told = [...new Set(names)].join(', ');
  return lineOf('warn', `Nothing needs attention yet. Suspect, because its last request failed: ${told}.`);
}

/** Returns the sentence for a gateway without causes. It names everything that was checked. */
function workingIn(statuses) {
  const upstreams = new Set(statuses.flatMap(({ status }) => Object.keys(status?.upstreams ?? {}))).size;
  const instances = statuses.length === 1 ? '' : `, ${statuses.length} instances answer`;
  return `${upstreams === 1 ? '1 upstream' : `${upstreams} upstreams`}, stores, certificates and configuration are well${instances}.`;
}

/** The charts of all operations, or of the one that the address names. */
function charts() {
  const select = place('shown');
  const chosen = () => routeIn(location.hash).params.get('operation') ?? undefined;
  const show = createTrafficCharts(place('traffic-chart'), place('latency-chart'), () => ({ operation: chosen() }));

  /** Options are replaced only when they change, because that would close an open list. */
  function choices(names) {
    const wanted = [EVERYTHING, ...new Set(names)].toSorted((one, other) => one.localeCompare(other));
    wanted.sort((one) => (one === EVERYTHING ? -1 : 0));
    if (wanted.join() !== [...select.options].map(({ value }) => value).join())
      select.replaceChildren(...wanted.map((name) => element('option', { value: name }, operationName(name))));
    select.value = chosen() ?? EVERYTHING;
  }

  select.addEventListener('change', () => {
    const { params } = routeIn(location.hash);
    const operation = select.value === EVERYTHING ? undefined : select.value;
    location.hash = addressOf('overview', { ...Object.fromEntries(params), operation });
  });
  return (feed) => {
    const { history } = feed;
    const operation = chosen();
    choices([...history.operations.map(({ name }) => name), ...(operation === undefined ? [] : [operation])]);
    const subject = operation === undefined ? history.all : history.subject;
    show(feed, subject ?? nothingOf(history), operation ?? '');
  };
}

/** An operation without requests has a chart without columns. */
function nothingOf({ all }) {
  const empty = Object.entries(all.series).map(([name, values]) => [
    name,
    values.map(() => (/_ms$/.test(name) ? null : 0)),
  ]);
  return { ...all, series: Object.fromEntries(empty) };
}

/** Says how far the counts reach back, and what they take. */
function reach({ history }) {
  const { bytes: used, bytes_max: most } = history.memory;
  place('reach').textContent =
    `Counts reach back ${ago(history.from).replace(' ago', '')}, at most two days, and take ${bytes(used)} of at most ${bytes(most)}.`;
}

export function overview() {
  const shows = [
    ...[attention(), tiles(), charts(), reach, createHappened(place('happened'), 'h2')],
    ...[operationsTable(), codesTable(), organizationsTable()],
  ];
  return (feed) => {
    if (feed.history === null) return shows[0](feed);
    for (const show of shows) show(feed);
  };
}
