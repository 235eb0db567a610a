// The limits of an organization with bars; the fullest come first.

import { count, fillOf, inOrderOfNeed, listOf, spanText, timeOfDay } from './account-figures.js';
import { titleOf } from './account-operations.js';
import { element } from './page-tools.js';

const LIMITS_SHOWN = 6;

export function limitElements({ data }) {
  const limits = inOrderOfNeed(listOf(data));
  if (limits.length === 0) return [element('p', {}, 'No limit applies to your organization.')];
  const list = (some) =>
    element('ul', { class: 'account-cards' }, ...some.map((limit) => element('li', {}, limitElement(limit))));
  const parts = [list(limits.slice(0, LIMITS_SHOWN))];
  const rest = limits.slice(LIMITS_SHOWN);
  if (rest.length > 0)
    parts.push(
      element(
        'details',
        { class: 'nested' },
        element('summary', {}, `${rest.length} more limits, with more left`),
        list(rest),
      ),
    );
  return parts;
}

const levels = { free: '', near: 'near its end', full: 'used up' };

function limitElement(limit) {
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
    ...(keyId ? [`Key ${keyId}.`] : []),
    ...(named.length > 0
      ? [`Counts ${named.slice(0, 3).join(', ')}${named.length > 3 ? ` and ${named.length - 3} more` : ''}.`]
      : []),
    ...(enforced === false ? ['It counts and refuses nothing.'] : []),
  ];
  return element(
    'article',
    { class: 'account-card' },
    element(
      'h3',
      {},
      String(policy),
      ' ',
      ...(levels[level] ? [element('span', { class: `badge ${level}` }, levels[level])] : []),
    ),
    bar,
    element('p', {}, element('strong', {}, count(used)), ` of ${count(limit.limit)} in the last ${spanText(span)}`),
    element('p', { class: 'account-soft' }, `${count(remaining)} left${freed}. ${notes.join(' ')}`),
  );
}
