// What needs attention, as a list. Each line has a cause, its consequence, its begin, and links to its details.

import { element, link, state } from './elements.js';
import { timeElement, withTimes } from './format.js';
import { addressOf } from './routes.js';

/** @param isHere whether the cause is shown on the page that has its details */
export function attentionLine({ kind, cause, consequence, since, until, runbook, details, instances }, isHere = false) {
  const more = [];
  if (instances !== undefined) more.push(` On ${instances.join(', ')}.`);
  if (since !== undefined) more.push(element('span', { class: 'when' }, ' Since ', timeElement(since), '.'));
  if (until !== undefined && !consequence.includes(until))
    more.push(element('span', { class: 'when' }, ' Until ', timeElement(until), '.'));
  const leads = leadsOf({ details: isHere ? undefined : details, runbook });
  if (leads.length > 0) more.push(' ', element('span', { class: 'leads' }, ...leads));
  return lineOf(
    kind,
    element('strong', {}, withTimes(cause)),
    element('span', { class: 'follows' }, ` ${withTimes(consequence)}`),
    ...more,
  );
}

/** Returns links to the details of a cause, and to the section that says what to do. */
export function leadsOf({ details, runbook }) {
  return [
    ...(details === undefined ? [] : [link(details, 'Details')]),
    ...(runbook === undefined ? [] : [' ', link(addressOf('runbook', {}, runbook), '→ runbook')]),
  ];
}

export function lineOf(kind, ...content) {
  const text = element('span', { class: 'text' }, ...content);
  return element('li', { class: kind }, state(kind, ''), text);
}
