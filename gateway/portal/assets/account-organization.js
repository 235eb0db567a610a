// The first part of the account: the organization of the key, or a text for a key that may not read it. It also has the commands that read the
// same data.

import { listOf } from './account-figures.js';
import { copyOnPress, element } from './page-tools.js';

const ASKED = [
  ['Organization', '/organization'],
  ['Limits', '/limits'],
  ['Use by day', '/usage?by=day'],
  ['Recent requests', '/requests'],
  ['Keys', '/keys'],
];

const ASKED_BY_EVERY_KEY = [
  ['Recent requests', '/requests'],
  ['One request', '/requests/REQUEST_ID'],
];

/**
 * The card for a key that shows only its requests.
 *
 * @param refresh a button
 */
export function ownRequestsCard(isTest, refresh) {
  const what = isTest
    ? 'A test key explains the requests that were sent with it. The organization, its limits, use and keys take a live key with the scope '
    : 'This key explains the requests that were sent with it. The organization, its limits, use and keys take a key with the scope ';
  const text = element('p', {}, what, element('code', {}, 'gateway:read'), '.');
  return card('Requests of this key', [refresh], text, ASKED_BY_EVERY_KEY);
}

/** @param refresh a button */
export function organizationCard({ name, id, tier, state, contacts }, refresh) {
  const isActive = state === 'active';
  const badge = element('span', { class: `badge ${isActive ? 'good' : 'full'}` }, String(state));
  const facts = [
    ['Organization', element('code', {}, String(id))],
    ['Tier', tierElement(String(tier))],
    ['Notices go to', listOf(contacts).length > 0 ? contacts.join(', ') : 'no address'],
  ];
  const list = element(
    'dl',
    { class: 'facts' },
    ...facts.map(([term, value]) => element('div', {}, element('dt', {}, term), element('dd', {}, value))),
  );
  return card(String(name), [badge, refresh], list, ASKED);
}

function card(title, beside, content, asked) {
  return element(
    'section',
    { class: 'organization-card', 'aria-labelledby': 'account-name' },
    element('div', { class: 'account-head' }, element('h2', { id: 'account-name', tabindex: '-1' }, title), ...beside),
    content,
    commandsElement(asked),
  );
}

function tierElement(tier) {
  const hasLimits = document.querySelector('.top a[href="/docs/limits"]') !== null;
  return hasLimits ? element('a', { href: '/docs/limits' }, tier) : tier;
}

function commandsElement(asked) {
  const rows = asked.map(([label, path]) => {
    const text = `curl "${location.origin}/gateway/v1${path}" -H "Authorization: Bearer $API_KEY"`;
    const code = element('code', {}, text);
    const copy = element('button', { type: 'button', 'aria-label': `Copy: ${label}` }, 'Copy');
    copyOnPress(copy, code);
    const shown = element('pre', { class: 'command', tabindex: '0' }, code);
    return element('li', {}, element('span', {}, label), shown, copy);
  });
  return element(
    'details',
    { class: 'nested' },
    element('summary', {}, 'The same with curl'),
    element('ul', { class: 'commands' }, ...rows),
  );
}
