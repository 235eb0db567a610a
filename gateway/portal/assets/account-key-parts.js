// How a key and the fields of its dialogs look.

import { listOf, moment } from './account-figures.js';
import { element } from './page-tools.js';

const SCOPES_SHOWN = 6;

/** Pairs of a term and a value. */
export function factList(facts) {
  const rows = facts.map(([term, value]) => element('div', {}, element('dt', {}, term), element('dd', {}, value)));
  return element('dl', { class: 'key-facts' }, ...rows);
}

export function scopeList(scopes) {
  const item = (scope) => element('li', {}, element('code', {}, String(scope)));
  const shown = element('ul', { class: 'scopes', 'aria-label': 'Scopes' }, ...scopes.slice(0, SCOPES_SHOWN).map(item));
  if (scopes.length <= SCOPES_SHOWN) return shown;
  const rest = element('ul', { class: 'scopes' }, ...scopes.slice(SCOPES_SHOWN).map(item));
  return element(
    'div',
    {},
    shown,
    element(
      'details',
      { class: 'nested' },
      element('summary', {}, `${scopes.length - SCOPES_SHOWN} more scopes`),
      rest,
    ),
  );
}

export const strong = ({ name, id }) => element('strong', {}, name || id);

/** The facts about a key before it is made or changed. */
export function willBe({ name, mode, scopes, expires_at: end, allowed_cidrs: addresses }) {
  const facts = [
    ['Name', name || 'none'],
    ['Mode', String(mode)],
    ['Ends', moment(end)],
    ['From', listOf(addresses).length > 0 ? addresses.join(', ') : 'any address'],
  ];
  return element('div', { class: 'account-card' }, factList(facts), scopeList(listOf(scopes)));
}

export function field(text, input, ...notes) {
  return element('div', { class: 'field' }, element('label', { for: input.id }, text), input, ...notes);
}

export function choice(id, options, chosen) {
  const made = element('select', { id }, ...options.map(([value, text]) => element('option', { value }, text)));
  made.value = chosen;
  return made;
}
