// Organizations and keys: found by name, id or the visible end of a key, with their actions, and the commands that do the same.

import { actionButton } from './actions.js';
import { addressOf, pageOf, routeIn } from './addresses.js';
import { read } from './api.js';
import { commandLine, element, emptyCard, factsIn, link, linkTo, place, signed } from './elements.js';
import { ago, count, moment, NONE, timeAgo } from './format.js';
import { createTable } from './tables.js';

const STATE_KINDS = { suspended: 'warn', revoked: 'off', expired: 'off' };

/** Returns the text to search for. The typed text may be a whole key, so only its last four characters leave this field. */
export function searchText(text) {
  const wanted = text.trim();
  return /^(sk|pk|…|\.\.\.)/.test(wanted) && wanted.length > 4 ? wanted.slice(-4) : wanted;
}

let listens = false;

/** Shows the results for the text in the address, and searches for each text that is typed from then on. */
export async function openSearch(find) {
  const field = place('find');
  field.value = find;
  if (!listens)
    place('search').addEventListener('submit', (event) => {
      event.preventDefault();
      location.hash = addressOf('organizations', { find: searchText(field.value) });
    });
  listens = true;
  await showSearch(find);
}

async function showSearch(find) {
  const found = (await read('organizations', { find })) ?? { organizations: [], keys: [], complete: true };
  showKeys(found.keys);
  const show = createTable(place('organizations-found'), {
    caption: 'Organizations',
    empty: find === '' ? 'There is no organization yet.' : 'No organization or key matches.',
    keyOf: ({ id }) => id,
    hrefOf: ({ id }) => pageOf('organizations', id),
    columns: [
      { key: 'name', label: 'Name', cell: ({ name, id }) => name || id, value: true },
      { key: 'id', label: 'Id', cell: ({ id }) => element('code', {}, id), value: true },
      { key: 'tier', label: 'Tier', value: true },
      { key: 'state', label: 'State', cell: (row) => signed(STATE_KINDS[row.state], row.state), value: true },
    ],
  });
  show(found.organizations);
  place('organizations-complete').textContent = found.complete
    ? ''
    : 'There may be more: enter more of the name, or the id.';
}

/** Shows the organization as it is now, and leaves the focus and a selection of text where they are. */
export async function refreshOrganization(id) {
  if (!getSelection().isCollapsed) return;
  const boxes = [place('subject-about'), place('organization')];
  const wasInside = boxes.some((box) => box.contains(document.activeElement));
  const nameOf = (part) => part?.getAttribute('aria-label') ?? part?.getAttribute('href');
  const name = nameOf(document.activeElement);
  await showOrganization(id);
  if (!wasInside) return;
  // If the focused command is no longer offered, the first command gets the focus.
  const parts = boxes.flatMap((box) => [...box.querySelectorAll('a[href], button')]);
  (parts.find((part) => nameOf(part) === name) ?? parts[0])?.focus({ preventScroll: true });
}

/** The latest remembered requests of the shown organization. The stored time of the last use is up to a minute late. */
let latest = [];

export function noteLatest(requests) {
  latest = requests;
}

/** Returns the time of the last use of the organization or of one of its keys; null if there was none. */
function lastUseOf(stored, isOf) {
  const times = latest.filter(isOf).map(({ at }) => at);
  return [...times, stored ?? ''].sort().at(-1) || null;
}

/** Shows the keys that fit the text, each with its state and its commands. */
function showKeys(keys) {
  place('keys-found').replaceChildren(
    ...(keys.length === 0 ? [] : [element('h3', {}, keys.length === 1 ? 'The key' : `${keys.length} keys`)]),
    ...keys.map((key) => keyCard(key, key.organization)),
    ...(keys.length === 0 ? [] : [element('h3', {}, keys.length === 1 ? 'Its organization' : 'Their organizations')]),
  );
}

const visible = ({ prefix, last_four: end }) => `${prefix}…${end}`;

/** Resolves with false if the organization does not exist. */
export async function showOrganization(id) {
  const box = place('organization');
  const found = await read(`organizations/${encodeURIComponent(id)}`);
  // The reader may have gone to another organization meanwhile.
  if (routeIn(location.hash).id !== id) return true;
  if (found === undefined) return false;
  place('subject-title').textContent = found.name || id;
  place('subject-about').replaceChildren(
    element(
      'div',
      { class: 'panels about' },
      element('section', {}, element('h3', {}, 'Now'), factsOf(found), limitsOf(found), ...actionsOf(found)),
      // They stand beside the facts. Below them, they would push the figures down.
      commandsOf(found),
    ),
  );
  box.replaceChildren(
    element(
      'h3',
      {},
      found.keys_total > found.keys.length ? `The latest ${found.keys.length} of ${found.keys_total} keys` : 'Keys',
    ),
    ...(found.keys.length === 0 ? [emptyCard('It has no key.')] : found.keys.map((key) => keyCard(key))),
  );
  return true;
}

/** Whether the reader has opened or closed the commands of an organization or of a key, by its id. */
const opened = new Map();

/** Lists commands, which are closed in a narrow window until the reader opens them. */
function commandsOf({ id, commands }, attributes = { class: 'card' }) {
  const isOpen = opened.get(id) ?? matchMedia('(min-width: 64rem)').matches;
  const details = element(
    'details',
    { class: 'commands', open: isOpen ? '' : undefined },
    element('summary', {}, 'Commands'),
    element('div', attributes, ...commands.map(({ does, line }) => commandLine(line, does))),
  );
  details.firstChild.addEventListener('click', () => opened.set(id, !details.open));
  return details;
}

function factsOf({ id, tier, state, operator, last_used_at: stored }) {
  const used = lastUseOf(stored, ({ organization }) => organization === id);
  return factsIn([
    ['Id', element('code', {}, id)],
    ['Tier', tier],
    ['State', signed(STATE_KINDS[state], state)],
    ['Last use', used === null ? NONE : timeAgo(used)],
    ['Requests', link(addressOf('requests', { organization: id }), 'Recent requests')],
    ...(operator ? [['Kind', 'Staff of the platform: may hold operator scopes']] : []),
  ]);
}

function actionsOf({ id, tier, state, tiers }) {
  const done = () => void refreshOrganization(id).catch(() => undefined);
  const buttons = [
    ...actionButton(state === 'suspended' ? 'resume-organization' : 'suspend-organization', id, { done }),
    ...(tiers.some((one) => one !== tier) ? actionButton('change-tier', id, { tiers, tier, done }) : []),
    ...actionButton('reset-limits', id, { done }),
  ];
  return buttons.length === 0 ? [] : [element('p', { class: 'actions' }, ...buttons)];
}

function limitsOf({ limits }) {
  if (limits === null) return emptyCard('The counters cannot be read now.');
  if (limits.length === 0) return emptyCard('No limit applies to it.');
  const cards = limits.map((limit) => {
    const {
      policy,
      rule,
      rule_at: at,
      used,
      limit: most,
      window_seconds: seconds,
      remaining,
      enforced,
      key_id: key,
      next_freed_at: freed,
    } = limit;
    const meter = element('meter', {
      min: '0',
      max: String(most),
      value: String(Math.min(used, most)),
      // From nine tenths on, the bar is amber, like the words beside it.
      low: String(0.9 * most),
      high: String(0.9 * most),
      optimum: '0',
      'aria-label': `${policy}: used`,
    });
    const of = key === null ? '' : ` of ${key}`;
    return element(
      'div',
      { class: 'card limit' },
      element('strong', {}, `${policy}${of}${enforced ? '' : ', shadow: counts only'}`),
      ...(used >= 0.9 * most ? [signed('warn', used >= most ? 'used up' : 'nearly used up')] : []),
      meter,
      element(
        'span',
        {},
        `${count(used)} of ${count(most)} in ${count(seconds)} s; ${count(remaining)} left${freed === null ? '' : `, more from ${moment(freed)}`}`,
      ),
      element('span', { class: 'soft' }, at === undefined ? rule : `${rule}, ${at}`),
    );
  });
  return element('div', { class: 'limits' }, ...cards);
}

function revokeButton(id, organization) {
  const shown = routeIn(location.hash);
  const refresh = () => (organization === undefined ? refreshOrganization(shown.id) : showSearch(place('find').value));
  const buttons = actionButton('revoke-key', id, { done: () => void refresh().catch(() => undefined) });
  return buttons.length === 0 ? [] : [element('p', { class: 'actions' }, ...buttons)];
}

function keyCard(key, organization) {
  const {
    id,
    name,
    mode,
    state,
    scopes,
    allowed_cidrs: from,
    last_used_at: stored,
    expires_at: ends,
    revoked_at: revoked,
  } = key;
  const used = lastUseOf(stored, (request) => request.key === id);
  const facts = [
    name,
    `${mode} mode`,
    scopes.includes('*') ? 'every scope' : scopes.join(' '),
    from.length > 0 ? `from ${from.join(', ')}` : '',
    used === null ? 'never used' : `last used ${ago(used)}`,
    revoked !== null ? `revoked ${moment(revoked)}` : ends === null ? '' : `ends ${moment(ends)}`,
  ];
  return element(
    'div',
    { class: 'card key' },
    element(
      'p',
      {},
      element('code', {}, visible(key)),
      ' ',
      element('code', { class: 'soft' }, id),
      ' ',
      signed(STATE_KINDS[state], state),
      ...(organization === undefined ? [] : [' of ', linkTo('organizations', organization)]),
    ),
    element(
      'p',
      { class: 'soft' },
      `${facts.filter((fact) => fact !== '').join(' · ')} · `,
      link(addressOf('requests', { key: id }), 'its requests'),
    ),
    ...(['active', 'rotating'].includes(state) ? revokeButton(id, organization) : []),
    ...(key.commands.length === 0 ? [] : [commandsOf(key, {})]),
  );
}
