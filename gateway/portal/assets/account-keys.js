// The keys of an organization.

import { listOf, mayChangeKeys, moment, ownKeyIn } from './account-figures.js';
import { createKeyActions } from './account-key-actions.js';
import { factList, scopeList } from './account-key-parts.js';
import { element } from './page-tools.js';

const KEYS_SHOWN = 12;

/**
 * @param context.secret the key of the page
 * @param context.scopes the scopes of the contracts
 * @param context.reload shows the list again
 * @param context.useKey continues with another key
 */
export function keysElements(keys, hasMore, context) {
  const own = ownKeyIn(keys, context.secret);
  const isOffered = mayChangeKeys(own);
  const actions = createKeyActions({ ...context, own });
  const card = (key) => keyElement(key, { isOwn: key.id === own?.id, actions: isOffered ? actions : undefined });
  const usable = inOrderOfUse(
    keys.filter(({ state }) => state === 'active'),
    own,
  );
  const others = keys.filter(({ state }) => state !== 'active');
  const parts = [];
  if (isOffered) {
    const create = element('button', { type: 'button', class: 'primary' }, 'Create a key');
    create.addEventListener('click', () => actions.create());
    parts.push(element('p', {}, create));
  } else {
    parts.push(
      element(
        'p',
        { class: 'account-soft' },
        'To create, rotate and revoke keys, use a key with the scope ',
        element('code', {}, 'gateway:keys'),
        '.',
      ),
    );
  }
  const cards = (some) => element('ul', { class: 'account-cards' }, ...some.map((key) => element('li', {}, card(key))));
  const fold = (text, some) =>
    some.length === 0 ? [] : [element('details', { class: 'nested' }, element('summary', {}, text), cards(some))];
  const rest = usable.slice(KEYS_SHOWN);
  parts.push(
    cards(usable.slice(0, KEYS_SHOWN)),
    ...fold(`${rest.length} more that work`, rest),
    ...fold(`Revoked and expired (${others.length})`, others),
  );
  if (hasMore) parts.push(element('p', { class: 'cut' }, 'There are more keys than are shown.'));
  return parts;
}

/** The key of the page first, then those that were used last. */
function inOrderOfUse(keys, own) {
  const rank = (key) => (key.id === own?.id ? Number.POSITIVE_INFINITY : Date.parse(key.last_used_at) || 0);
  return [...keys].sort((one, other) => rank(other) - rank(one));
}

function keyElement(key, { isOwn, actions }) {
  const { id, name, state, mode, scopes, allowed_cidrs: addresses, prefix, last_four: end } = key;
  const badges = [
    element('span', { class: `badge ${state === 'active' ? 'good' : 'off'}` }, state),
    ...(mode === 'test' ? [element('span', { class: 'badge' }, 'test')] : []),
    ...(isOwn ? [element('span', { class: 'badge' }, 'this page uses it')] : []),
  ];
  const facts = [
    ['Key', element('code', {}, `${prefix}…${end}`)],
    ['Last used', moment(key.last_used_at)],
    ['Ends', moment(key.expires_at)],
    ['Created', moment(key.created_at)],
    ...(key.revoked_at
      ? [['Revoked', `${moment(key.revoked_at)}${key.revoked_reason ? `: ${key.revoked_reason}` : ''}`]]
      : []),
    ...(key.replaced_by ? [['Replaced by', element('code', {}, key.replaced_by)]] : []),
    ...(listOf(addresses).length > 0 ? [['Only from', addresses.join(', ')]] : []),
  ];
  const made = element(
    'article',
    { class: 'account-card' },
    element('h3', {}, name || 'No name', ' ', ...badges),
    factList(facts),
    scopeList(listOf(scopes)),
  );
  if (actions === undefined || state !== 'active') return made;
  const button = (text, act) => {
    const one = element('button', { type: 'button', 'aria-label': `${text} ${name || id}` }, text);
    one.addEventListener('click', act);
    return one;
  };
  made.append(
    element(
      'p',
      { class: 'account-actions' },
      // A key that has a successor is not rotated again.
      ...(key.replaced_by ? [] : [button('Rotate', () => actions.rotate(key))]),
      button('Revoke', () => actions.revoke(key)),
    ),
  );
  return made;
}
