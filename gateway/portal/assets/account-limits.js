// Shows the limits of an organization with bars. Limits that are nearly used up come first. Limits on trial, which refuse nothing, are
// folded.

import { count, fillOf, inOrderOfNeed, listOf, spanText, timeOfDay } from './account-figures.js';
import { titleOf } from './account-operations.js';
import { element } from './page-tools.js';

const LIMITS_SHOWN = 6;

/** @param keys the keys of the organization that the page may read, for their names beside their limits */
export function limitElements({ data }, keys) {
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  const all = inOrderOfNeed(listOf(data));
  const limits = all.filter(({ enforced }) => enforced !== false);
  const trials = all.filter(({ enforced }) => enforced === false);
  const list = (some) =>
    element('ul', { class: 'account-cards' }, ...some.map((limit) => element('li', {}, limitElement(limit, names))));
  const foldedList = (some, text) =>
    some.length === 0 ? [] : [element('details', { class: 'nested' }, element('summary', {}, text), list(some))];
  const rest = limits.slice(LIMITS_SHOWN);
  return [
    limits.length === 0
      ? element('p', {}, 'No limit applies to your organization.')
      : list(limits.slice(0, LIMITS_SHOWN)),
    ...foldedList(rest, `${rest.length} more limits, with more left`),
    ...foldedList(
      trials,
      `${trials.length} on trial: ${trials.length === 1 ? 'it counts' : 'they count'} and never refuse${trials.length === 1 ? 's' : ''}`,
    ),
  ];
}

const LEVELS = { free: '', near: 'near its end', full: 'used up' };

function limitElement(limit, names) {
  const {
    policy,
    key_id: keyId,
    operations,
    enforced,
    window_seconds: span,
    used,
    remaining,
    next_freed_at: freedAt,
  } = limit;
  const { share, level } = fillOf(limit);
  const label = `${policy}: ${count(used)} of ${count(limit.limit)} used`;
  const bar = element('div', {
    class: `bar ${level}`,
    role: 'meter',
    'aria-label': label,
    'aria-valuemin': '0',
    'aria-valuemax': '100',
    'aria-valuenow': String(Math.round(share * 100)),
  });
  const filled = element('span');
  filled.style.width = `${share * 100}%`;
  bar.append(filled);
  const named = listOf(operations).map(titleOf);
  const freed = freedAt ? `, the next is free at ${timeOfDay(freedAt, Date.now())}` : '';
  const notes = [
    ...(keyId ? [`Of the key ${names.get(keyId) || keyId}.`] : []),
    ...(named.length > 0
      ? [`Counts ${named.slice(0, 3).join(', ')}${named.length > 3 ? ` and ${named.length - 3} more` : ''}.`]
      : []),
    ...(enforced === false ? ['On trial: it never refuses.'] : []),
  ];
  return element(
    'article',
    { class: 'account-card' },
    element(
      'h3',
      {},
      String(policy),
      ' ',
      ...(LEVELS[level] ? [element('span', { class: `badge ${level}` }, LEVELS[level])] : []),
    ),
    bar,
    element('p', {}, element('strong', {}, count(used)), ` of ${count(limit.limit)} in the last ${spanText(span)}`),
    element('p', { class: 'account-soft' }, `${count(remaining)} left${freed}. ${notes.join(' ')}`),
  );
}
