// The audit log, the newest change first: who changed what, and what it was before.

import { read } from './api.js';
import { element, link, place, state } from './elements.js';
import { moment, momentWithSeconds, NONE, timeElement, withTimes } from './format.js';
import { addressOf, routeIn } from './routes.js';
import { createTable } from './tables.js';

const HIDDEN = ['before', 'after', 'changes', 'request_id', 'by_organization'];

const show = createTable(place('audit-rows'), {
  caption: 'Changes of organizations, keys and configuration',
  empty: 'No change is recorded.',
  compact: true,
  keyOf: ({ sequence }) => String(sequence),
  columns: [
    {
      key: 'at',
      label: 'Time',
      cell: ({ at, shown }) => timeElement(at, shown),
    },
    { key: 'by', label: 'By', cell: ({ by }) => by },
    { key: 'kind', label: 'What', cell: ({ kind }) => kind.replaceAll(/[._]/g, ' ') },
    {
      key: 'organization',
      label: 'Organization',
      cell: ({ organization }) =>
        organization === null ? '' : element('a', { href: addressOf('organizations', {}, organization) }, organization),
    },
    { key: 'key', label: 'Key', cell: ({ key }) => (key === null ? '' : element('code', {}, key)) },
    { key: 'details', label: 'Details', long: true, cell: detailsOf },
  ],
});

/** What changed, from what, and the rest as it is recorded. */
function detailsOf({ kind, details }) {
  const { before = {}, after = {}, changes = [], request_id: request, outcome } = details;
  const refused = outcome === 'refused' ? [state('bad', 'refused'), '; '] : [];
  const others = Object.entries(details).filter(([name]) => name !== 'outcome' || refused.length === 0);
  // What was made has the same members as its state afterwards.
  const members = kind.endsWith('.changed') ? Object.keys(after) : [];
  const changed = [
    // The keys of configuration files that a reload changed.
    ...changes,
    ...members.map((name) => `${name}: ${textOf(before[name])} → ${textOf(after[name])}`),
  ];
  const more = others
    .filter(([name, value]) => !HIDDEN.includes(name) && value !== null && value !== '')
    .map(([name, value]) => `${name}: ${textOf(value)}`);
  const text = withTimes([...changed, ...more].join('; '), momentWithSeconds);
  const asked = request === undefined ? [] : [element('span', { class: 'soft' }, ` request ${request}`)];
  return element('span', {}, ...refused, text, ...asked);
}

function textOf(value) {
  if (value === undefined) return NONE;
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string');
  const text = isList ? value.join(' ') : typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

place('audit-form').addEventListener('submit', (event) => {
  event.preventDefault();
  location.hash = addressOf('audit', { organization: place('audit-organization').value.trim() });
});

/** Changes of the same minute are told apart by their seconds. */
function timed(changes) {
  const inMinute = Map.groupBy(changes, ({ at }) => moment(at));
  return changes.map((change) => {
    const { at } = change;
    return { ...change, shown: inMinute.get(moment(at)).length > 1 ? momentWithSeconds(at) : moment(at) };
  });
}

export async function showAudit() {
  const { params } = routeIn(location.hash);
  const organization = params.get('organization') ?? undefined;
  place('audit-organization').value = organization ?? '';
  const found = await read('audit', { organization, before: params.get('before') ?? undefined });
  show(timed(found?.changes ?? []));
  const newest = params.get('before') === null ? [] : [link(addressOf('audit', { organization }), 'The newest'), ' '];
  const older = found?.older ? [link(addressOf('audit', { organization, before: found.older }), 'Older changes')] : [];
  place('audit-more').replaceChildren(...newest, ...older);
}
