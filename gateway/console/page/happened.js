// What happened in the shown time: the events that the charts mark, the latest first.

import { signOf } from './chart-drawing.js';
import { element, refill } from './elements.js';
import { moment, timeElement, withTimes } from './format.js';
import { shownTime, timeName } from './time-range.js';

/** The latest events that are shown at once. */
const EVENTS_SHOWN = 6;

/**
 * @param box is hidden while nothing happened
 * @param level the name of the element of its heading
 * @returns a function that shows a feed
 */
export function createHappened(box, level) {
  const heading = element(level, {});
  const latest = element('ul', { class: 'card' });
  const summary = element('summary');
  const earlier = element('ul');
  const more = element('details', {}, summary, earlier);
  box.replaceChildren(heading, latest, more);
  return ({ history, listed }) => {
    const fromMs = Date.parse(history.from);
    const untilMs = Date.parse(shownTime().to ?? Number.NaN);
    const shown = listed
      .filter(({ at, until }) => !(Date.parse(until ?? Number.NaN) < fromMs || Date.parse(at) >= untilMs))
      .toReversed();
    const rest = shown.slice(EVENTS_SHOWN);
    heading.textContent = `What happened, ${timeName()}`;
    fill(latest, shown.slice(0, EVENTS_SHOWN));
    fill(earlier, rest);
    box.hidden = shown.length === 0;
    more.hidden = rest.length === 0;
    summary.textContent = `${rest.length} earlier`;
  };
}

function fill(list, events) {
  refill(list, element('ul', {}, ...events.map(eventItem)));
}

function eventItem({ kind, at, until, text, instance }) {
  const where = instance === undefined ? '' : ` (${instance})`;
  const end = until === null ? ' until now' : moment(until) === moment(at) ? '' : ` to ${moment(until)}`;
  return element(
    'li',
    {},
    element('span', { 'aria-hidden': 'true', class: `sign ${kind}` }, signOf(kind)),
    element('span', { class: 'when' }, timeElement(at), end),
    element('span', {}, withTimes(text) + where),
  );
}
