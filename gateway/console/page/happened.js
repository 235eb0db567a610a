// What happened in the shown time: the events that the charts mark, the latest first.

import { signOf } from './chart-drawing.js';
import { element, linkTo, refill } from './elements.js';
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
    const shown = eventsIn(history, listed);
    const rest = shown.slice(EVENTS_SHOWN);
    heading.textContent = `What happened, ${timeName()}`;
    fill(latest, shown.slice(0, EVENTS_SHOWN));
    fill(earlier, rest);
    box.hidden = shown.length === 0;
    more.hidden = rest.length === 0;
    summary.textContent = `${rest.length} earlier`;
  };
}

/** Returns the events of the shown time, the latest first. */
function eventsIn(history, listed) {
  const fromMs = Date.parse(history.from);
  const untilMs = Date.parse(shownTime().to ?? Number.NaN);
  return listed
    .filter(({ at, until }) => !(Date.parse(until ?? Number.NaN) < fromMs || Date.parse(at) >= untilMs))
    .toReversed();
}

function fill(list, events) {
  refill(list, element('ul', {}, ...events.map(eventItem)));
}

/** Returns the outages and warnings of a past time in the form of causes, the failures first. */
export function causesIn({ history, listed }) {
  const of = (wanted, kind) =>
    eventsIn(history, listed)
      .filter((event) => event.kind === wanted)
      .map((event) => ({
        ...{ id: '', kind, cause: leadOf(event), consequence: '' },
        ...{ since: event.at, until: event.until ?? undefined },
      }));
  return [...of('outage', 'bad'), ...of('warning', 'warn')];
}

function eventItem(event) {
  const { kind, at, until, instance } = event;
  const where = instance === undefined ? '' : ` (${instance})`;
  const end = until === null ? ' until now' : moment(until) === moment(at) ? '' : ` to ${moment(until)}`;
  return element(
    'li',
    {},
    element('span', { 'aria-hidden': 'true', class: `sign ${kind}` }, signOf(kind)),
    element('span', { class: 'when' }, timeElement(at), end),
    element('span', {}, leadOf(event), where),
  );
}

/** Returns the text of an event, which leads to the page of its culprit. */
function leadOf({ text, subject }) {
  const told = withTimes(text);
  return subject === undefined ? told : linkTo(subject.kind, subject.name, told);
}
