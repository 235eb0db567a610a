// The upstreams and their targets, of each instance that is shown.

import { actionButton } from './actions.js';
import { pageOf } from './addresses.js';
import { element, place } from './elements.js';
import { clockWithSeconds, count } from './format.js';
import {
  BREAKER_KINDS,
  CREDENTIAL_KINDS,
  credentialState,
  RETRIED_CREDENTIALS,
  stateOfTarget,
  stateText,
  TARGET_KINDS,
} from './states.js';
import { INSTANCE_COLUMN, keyOfTarget, targetRows } from './system-table.js';
import { createTable } from './tables.js';

/** More rows than this that say nothing are behind a line that counts them. */
const QUIET_SHOWN_MAX = 4;

/** Targets without a request and a check yet are apart where they are many: the others would be lost among them. */
export function upstreams() {
  const [known, quiet, counted] = [element('div'), element('div'), element('summary')];
  const folded = element('details', {}, counted, quiet);
  place('upstreams').replaceChildren(known, folded);
  const showKnown = targetTable(known, 'Upstreams and their targets');
  const showQuiet = targetTable(quiet, 'Targets that were not asked yet');
  return (feed) => {
    const rows = targetRows(feed);
    const found = rows.filter(isQuiet);
    const isFolded = found.length > QUIET_SHOWN_MAX;
    counted.textContent = `${found.length} targets were not asked yet`;
    folded.hidden = !isFolded;
    known.hidden = isFolded && found.length === rows.length;
    showKnown(isFolded ? rows.filter((row) => !isQuiet(row)) : rows);
    showQuiet(isFolded ? found : []);
  };
}

const isQuiet = (row) => stateOfTarget(row) === 'not_asked_yet' && rankOf(row) === CALM;

const RANKS = ['bad', 'warn'];
const CALM = RANKS.length;

/** What fails comes first. */
function rankOf(row) {
  const kinds = [TARGET_KINDS[stateOfTarget(row)], BREAKER_KINDS[row.breaker], CREDENTIAL_KINDS[row.credential]];
  const ranks = kinds.map((kind) => RANKS.indexOf(kind)).filter((rank) => rank >= 0);
  return Math.min(CALM, ...ranks);
}

function targetTable(container, caption) {
  return createTable(container, {
    caption,
    empty: 'No upstream is configured.',
    keyOf: (row) => `${row.instance} ${keyOfTarget(row)}`,
    hrefOf: ({ upstream }) => pageOf('upstreams', upstream),
    sort: { key: 'state', descending: false },
    columns: [
      {
        key: 'upstream',
        label: 'Upstream',
        cell: (row) => `${row.upstream} (${row.mode})`,
        value: (row) => `${row.upstream} ${row.mode}`,
      },
      INSTANCE_COLUMN,
      { key: 'address', label: 'Target', long: true, value: true },
      { key: 'state', label: 'State', long: true, cell: targetState, value: (row) => `${rankOf(row)} ${row.upstream}` },
      { key: 'breaker', label: 'Breaker', cell: (row) => stateText(BREAKER_KINDS, row.breaker), value: true },
      { key: 'credential', label: 'Credential', cell: credentialCell, value: true },
      {
        key: 'outstanding',
        label: 'In progress',
        numeric: true,
        cell: (row) => `${count(row.outstanding)}${row.waiting ? `, ${count(row.waiting)} wait` : ''}`,
        value: true,
      },
    ],
  });
}

/** Shows the state of a target with its last error, which says more than the state. */
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

function failingSince({ state, failing_since: since }) {
  return state === 'failing' && since ? ` since ${clockWithSeconds(Date.parse(since))}` : '';
}

function outUntil({ ejected_until: until }) {
  return until ? ` until ${clockWithSeconds(Date.parse(until))}` : '';
}
