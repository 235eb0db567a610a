// What needs attention, as a list. Each line has a cause, its consequence, its start, and links to its details.

import { routeIn } from './addresses.js';
import { commandLine, element, link, linkTo, refill, signed } from './elements.js';
import { timeElement, withTimes } from './format.js';

/** Shows the parts of a cause. A page leaves out the link to itself, and the first page leaves out the command. */
export function attentionLine(shown) {
  const { cause, consequence, since, until = shown.endedAt, runbook, details, instances, next } = shown;
  const kind = shown.hasRecovered ? 'good' : shown.kind;
  const where = instances === undefined ? '' : ` On ${instances.join(', ')}.`;
  const line = lineOf(
    kind,
    element('strong', {}, typeof cause === 'string' ? withTimes(cause) : cause),
    element('span', { class: 'follows' }, ` ${withTimes(consequence)}${where}`),
    ...(next === undefined ? [] : [commandLine(next)]),
  );
  const aside = element('span', { class: 'aside' });
  if (since !== undefined) aside.append(element('span', {}, 'Since ', timeElement(since)), ' ');
  if (until !== undefined && !consequence.includes(until))
    aside.append(element('span', {}, 'Until ', timeElement(until)), ' ');
  const leads = leadsOf({ details, runbook });
  if (leads.length > 0) aside.append(element('span', { class: 'leads' }, ...leads));
  line.append(' ', aside);
  return line;
}

/** Shows causes on a page, without their links to it. */
export function showCauses(list, causes, isHere) {
  const lines = causes.map((cause) =>
    attentionLine(isHere(routeIn(cause.details ?? '')) ? { ...cause, details: undefined } : cause),
  );
  list.hidden = lines.length === 0;
  refill(list, element('ul', {}, ...lines));
}

/** Returns links to the details of a cause, and to the section that says what to do. */
export function leadsOf({ details, runbook }) {
  return [
    ...(details === undefined ? [] : [link(details, 'Details')]),
    ...(runbook === undefined ? [] : [' ', linkTo('runbook', runbook, '→ runbook')]),
  ];
}

export function lineOf(kind, ...content) {
  const text = element('span', { class: 'text' }, ...content);
  return element('li', { class: kind }, signed(kind, ''), text);
}

/** Whether one of the causes is that something has become slow. Its durations are then marked. */
export const isSlow = (causes) => causes.some(({ id, hasRecovered: isOver }) => id.startsWith('slow ') && !isOver);
