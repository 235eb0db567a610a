// The audit log, the newest change first: who changed what, and what it was before.

import { addressOf, pageOf, routeIn } from './addresses.js';
import { read } from './api.js';
import { joinChanges } from './audit-events.js';
import { element, link, place, signed } from './elements.js';
import { NONE, timeElement, withTimes } from './format.js';
import { createTable } from './tables.js';

const HIDDEN = ['before', 'after', 'changes', 'request_id', 'by_organization'];

/** The author of changes that the gateway has read from files. The gateway does not know who wrote the files. */
const FILES = 'reload';
const SAVED_FILE = 'saved file';

const show = createTable(place('audit-rows'), {
  caption: 'Changes of organizations, keys and configuration',
  empty: 'No change is recorded.',
  compact: true,
  keyOf: ({ sequence }) => String(sequence),
  columns: [
    { key: 'at', label: 'Time', cell: ({ at }) => timeElement(at) },
    { key: 'by', label: 'By', cell: ({ by }) => (by === FILES ? SAVED_FILE : by) },
    { key: 'kind', label: 'What', cell: ({ kind }) => kind.replaceAll(/[._]/g, ' ') },
    {
      key: 'organization',
      label: 'Organization',
      cell: ({ organization }) =>
        organization === null ? '' : element('a', { href: pageOf('organizations', organization) }, organization),
    },
    { key: 'key', label: 'Key', cell: ({ key }) => (key === null ? '' : element('code', {}, key)) },
    { key: 'details', label: 'Details', long: true, cell: detailsOf },
  ],
});

/** Returns the changed members with their old and new values, then the other recorded details. */
function detailsOf({ kind, at, details }) {
  const { before = {}, after = {}, changes = [], request_id: request, outcome } = details;
  const refused = outcome === 'refused' ? [signed('bad', 'refused'), '; '] : [];
  // Only a change has members to compare. The record of a creation is the whole new state.
  const members = kind.endsWith('.changed') ? Object.keys(after) : [];
  const changed = [
    // A reload names the keys of configuration files that it has changed.
    ...changes.map((change) => /^(.*?): (.*) → (.*)$/.exec(change)?.slice(1) ?? [change]),
    ...members.map((name) => [name, textOf(before[name]), textOf(after[name])]),
  ];
  // The entry of an applied change names its files.
  const isKnown = (name) => name === 'outcome' || (name === 'files' && changes.length > 0);
  const more = Object.entries(details)
    .filter(([name, value]) => !HIDDEN.includes(name) && !isKnown(name) && value !== null && value !== '')
    .map(([name, value]) => `${name}: ${textOf(value)}`);
  const text = withTimes(more.join('; '));
  const { version } = details;
  const lines =
    outcome === 'applied' ? [' ', link(addressOf('configuration', { version, at }), 'lines of the change')] : [];
  const asked = request === undefined ? [] : [element('span', { class: 'soft' }, ` request ${request}`)];
  return element('span', {}, ...refused, ...changed.flatMap(changeOf), text, ...lines, ...asked);
}

/** Shows a setting with its values before and after. */
function changeOf([name, from, to]) {
  if (to === undefined) return [`${name}; `];
  return [`${name}: `, element('strong', {}, `${settingOf(from)} → ${settingOf(to)}`), '; '];
}

/** Returns a block of settings in words, because its braces and quotes say nothing. */
const settingOf = (text) =>
  /^\{[^{}]*\}$/.test(text) ? text.replaceAll(/[{}"]/g, '').replaceAll(/([:,])/g, '$1 ') : text;

function textOf(value) {
  if (value === undefined) return NONE;
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string');
  const text = isList ? joined(value) : typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** Joins names with commas. Mistakes are sentences. */
const joined = (texts) => texts.join(texts.every((text) => text.endsWith('.')) ? ' ' : ', ');

const form = place('audit-form');
const TIMES = ['since', 'until'];
const FILTERS = ['organization', 'by', ...TIMES];

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const values = FILTERS.map((name) => [name, form.elements[name].value.trim()]);
  location.hash = addressOf(
    'audit',
    Object.fromEntries(values.map(([name, value]) => [name, toParameter(name, value)])),
  );
});

/** The fields contain times in the reader's time zone, the address contains them in UTC. */
function toParameter(name, value) {
  if (name === 'by' && value === SAVED_FILE) return FILES;
  return TIMES.includes(name) && value !== '' ? new Date(value).toISOString() : value;
}

function toField(name, value) {
  const ms = Date.parse(value);
  if (!TIMES.includes(name) || Number.isNaN(ms)) return value;
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export async function showAudit() {
  const { params } = routeIn(location.hash);
  const asked = Object.fromEntries(FILTERS.map((name) => [name, params.get(name) ?? undefined]));
  for (const name of FILTERS) form.elements[name].value = toField(name, asked[name] ?? '');
  const found = await read('audit', { ...asked, before: params.get('before') ?? undefined });
  show(joinChanges(found?.changes ?? []));
  const newest = params.get('before') === null ? [] : [link(addressOf('audit', asked), 'The newest'), ' '];
  const older = found?.older ? [link(addressOf('audit', { ...asked, before: found.older }), 'Older changes')] : [];
  place('audit-more').replaceChildren(...newest, ...older);
}
