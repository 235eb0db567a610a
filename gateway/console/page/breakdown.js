// The tables of a subject: its errors, callers and operations among the remembered requests, and the latest of these requests.

import { addressOf, pageOf, SUBJECTS } from './addresses.js';
import { element, place, signed } from './elements.js';
import { exchangeTable } from './exchanges.js';
import { count, moment, operationName, percent } from './format.js';
import { createTable } from './tables.js';
import { REFUSED_WARNED } from './tiles.js';

const PARTS = [
  { member: 'codes', of: 'codes', title: 'Errors by code', name: 'Code', view: 'codes' },
  {
    member: 'organizations',
    of: 'organizations',
    title: 'Callers',
    name: 'Organization or address',
    view: 'organizations',
  },
  { member: 'operations', of: 'operations', title: 'Operations', name: 'Operation', view: 'operations' },
];

/** The slowest requests come first if the subject has become slow. Otherwise they say nothing new. */
const LISTS = [
  { member: 'slowest', title: 'Slowest remembered requests', sort: { key: 'duration', descending: true } },
  { member: 'failures', title: 'Latest failures of the service' },
  { member: 'refusals', title: 'Latest refusals' },
  { member: 'latest', title: 'Latest requests' },
];

/**
 * Makes the tables of a subject.
 *
 * @returns a function that shows what the gateway counted among the remembered requests, and whether the subject has become slow
 */
export function createBreakdown({ view }) {
  const box = place('breakdown');
  box.hidden = false;
  const parts = PARTS.filter(({ of }) => of !== view);
  const places = parts.map(() => element('div'));
  const reach = element('p', { class: 'soft wide' });
  const without = [SUBJECTS[view].member].filter((name) => name !== 'upstream');
  const lists = LISTS.map(({ member, title, sort }) => {
    const table = element('div');
    const section = element('section', { class: `wide ${member}` }, element('h3', {}, title), table);
    return {
      member,
      section,
      show: exchangeTable(table, { caption: title, empty: 'None remembered.', without, sort }),
    };
  });
  box.replaceChildren(
    ...parts.map(({ title }, index) => element('section', {}, element('h3', {}, title), places[index])),
    ...lists.map(({ section }) => section),
    reach,
  );
  const shows = parts.map((part, index) => partTable(places[index], part));
  return (found, isSlow) => {
    for (const [index, { member }] of parts.entries()) {
      shows[index](found[member]);
      // Without requests, the sentence at the end suffices.
      places[index].parentElement.hidden = found.requests === 0;
    }
    // If every request fails, the latest requests are in a list before.
    const listed = new Set([...found.failures, ...found.refusals].map(({ request_id: id }) => id));
    const isNew = { slowest: isSlow, latest: !found.latest.every(({ request_id: id }) => listed.has(id)) };
    for (const { member, section, show } of lists) {
      const rows = isNew[member] === false ? [] : found[member];
      section.hidden = rows.length === 0;
      show(shortened(rows));
    }
    reach.textContent = reachOf(found);
  };
}

/** In a narrow window, each row takes several lines. The figures and facts link to the whole list. */
const shortened = (rows) => (matchMedia('(max-width: 40rem)').matches ? rows.slice(0, 4) : rows);

/** Returns how far back the remembered requests go. */
function reachOf({ requests, since, errors_since: errorsSince }) {
  if (requests === 0) return 'No request of this time is remembered.';
  const back = since === null ? '' : ` since ${moment(since)}`;
  const backOfErrors = errorsSince && errorsSince < since ? `, and errors since ${moment(errorsSince)}` : '';
  return `Based on ${count(requests)} remembered requests${back}${backOfErrors}. Not all successful requests are remembered.`;
}

function partTable(container, { title, name, view }) {
  const isCallers = view === 'organizations';
  const hrefOf = ({ name: id, client }) => (client ? addressOf('requests', { client: id }) : pageOf(view, id));
  const number = (key, label, of) => ({ key, label, numeric: true, cell: of, value: (row) => row[key] });
  return createTable(container, {
    caption: title,
    empty: view === 'codes' ? 'No error is remembered.' : 'None remembered.',
    keyOf: (row) => row.name,
    hrefOf,
    sort: { key: 'requests', descending: true },
    columns: [
      {
        key: 'name',
        label: name,
        cell: (row) => (view === 'operations' ? operationName(row.name) : row.name),
        value: true,
      },
      { key: 'requests', label: 'Remembered', numeric: true, value: true },
      ...(view === 'codes' ? [] : [number('failed', 'Failed', (row) => bad(row.failed))]),
      ...(view === 'codes' ? [] : [{ ...number('broken', 'Off contract', offContract), optional: true }]),
      ...(view === 'codes' ? [] : [number('refused', 'Refused', (row) => refusedText(row, isCallers))]),
    ],
  });
}

const bad = (number) => (number === 0 ? '0' : signed('bad', count(number)));

const offContract = ({ broken }) => (broken > 0 ? signed('warn', count(broken)) : '');

/** Returns the number of refused requests, and for callers their share, which says whether a caller is in trouble. */
function refusedText({ refused, unserved = 0, requests }, isCallers) {
  if (unserved > 0) return signed('bad', `${count(refused)}, ${count(unserved)} with 5xx`);
  if (refused === 0 || !isCallers) return count(refused);
  const text = `${count(refused)}, ${percent(refused, requests)}`;
  return signed(refused > REFUSED_WARNED * requests ? 'warn' : undefined, text);
}
