// What needs attention, as a list. Each line has a cause, its consequence, its begin, and links to its details.

import { commandLine, element, link, state } from './elements.js';
import { timeElement, withTimes } from './format.js';
import { addressOf, routeIn } from './routes.js';

/** Shows what the cause has: a page leaves out the link to itself, and the first page the command. */
export function attentionLine({ kind, cause, consequence, since, until, runbook, details, instances, next }) {
  const more = [];
  if (instances !== undefined) more.push(` On ${instances.join(', ')}.`);
  if (since !== undefined) more.push(element('span', { class: 'when' }, ' Since ', timeElement(since), '.'));
  if (until !== undefined && !consequence.includes(until))
    more.push(element('span', { class: 'when' }, ' Until ', timeElement(until), '.'));
  const leads = leadsOf({ details, runbook });
  if (leads.length > 0) more.push(' ', element('span', { class: 'leads' }, ...leads));
  if (next !== undefined) more.push(commandLine(next));
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

/** The causes whose details are a page. */
export function causesOf(causes, { view, id }) {
  return causes.filter(({ details }) => {
    const led = details === undefined ? undefined : routeIn(details);
    return led?.view === view && led.id === id;
  });
}

/** Whether something among them has become slow: its durations are then marked. */
export const isSlow = (causes) => causes.some(({ id, hasRecovered: isOver }) => id.startsWith('slow ') && !isOver);
