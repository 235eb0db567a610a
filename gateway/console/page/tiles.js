// The figures of the last minute, or of a past time, each with its trend: a number that is bad looks bad, by a sign and by colour.

import { addressOf } from './addresses.js';
import { isSlow } from './attention.js';
import { sparkline } from './chart-kinds.js';
import { element, link, place, signed } from './elements.js';
import { count, lastSpan, percent, quantile, rate } from './format.js';

/** Failures from this share and number on are bad, as for what needs attention; each one is worth a warning. */
const FAILED_BAD = 0.01;
const FAILED_BAD_MIN = 3;
/** The share of refused requests from which on it is marked. A few refusals are usual. */
export const REFUSED_WARNED = 0.2;

/** @returns a function that shows a feed */
export function tiles() {
  return (feed) => {
    const { can_ask: canAsk, without, history } = feed;
    const alone = canAsk || without.length === 0 ? '' : `, 1 of ${without.length + 1} instances`;
    place('now-title').textContent = (history.range === 'free' ? 'In this time' : 'Now') + alone;
    place('tiles').replaceChildren(...tilesOf(feed).map((one) => tileOf({ ...one, slots: history.slots })));
  };
}

/** Makes the tile of a figure: a link, the figure with the sign of its kind, more about it, and its trend. */
export function tileOf({ name, value, more, href, kind, trend, slots }) {
  return element(
    'div',
    { class: `card tile ${kind ?? ''}`.trim() },
    element('dt', {}, link(href, name)),
    element('dd', { class: 'value' }, signed(kind, value)),
    element('dd', { class: 'soft' }, more),
    ...(trend === undefined ? [] : [element('dd', { class: 'trend' }, sparkline(trend, slots))]),
  );
}

function tilesOf({ attention, history, statuses }) {
  const { series } = history.all;
  // A link to a time shows the figures of that time.
  const isFree = history.range === 'free';
  const of = isFree ? 'total' : 'minute';
  const figures = history.all[of];
  const seconds = history[`${of}_seconds`];
  const window = isFree ? 'in this time' : `in the last ${lastSpan(seconds)}`;
  const sum = (name) => statuses.reduce((total, { status }) => total + (status?.overload?.[name] ?? 0), 0);
  const { failed, refused, server_errors: serverErrors } = figures;
  const limited = history.codes
    .filter(({ code }) => code === 'rate_limited')
    .reduce((total, one) => total + one[of], 0);
  return [
    {
      name: 'Requests',
      value: `${rate(figures.requests / seconds)}/s`,
      more: `${count(figures.requests)} ${window}`,
      href: addressOf('requests'),
      trend: series.requests,
    },
    {
      name: 'p50',
      value: quantile(figures.p50_ms),
      more: 'half are faster',
      href: addressOf('requests', { sort: 'duration' }),
      trend: series.p50_ms,
    },
    {
      name: 'p99',
      value: quantile(figures.p99_ms),
      more: '1 of 100 is slower',
      href: addressOf('requests', { sort: 'duration' }),
      kind: !isFree && isSlow(attention) ? 'warn' : undefined,
      trend: series.p99_ms,
    },
    {
      name: 'Failed',
      value: percent(failed, figures.requests),
      more: `${count(failed)} by the service`,
      href: addressOf('requests', { status: 'service_failed' }),
      kind: kindOfFailed(failed, figures.requests),
      trend: series.failed,
    },
    {
      name: 'Refused',
      value: percent(refused, figures.requests),
      more: `${count(refused)} by the gateway, ${count(limited)} over a limit`,
      href: addressOf('requests', { status: 'refused' }),
      kind: kindOfRefused(refused, serverErrors - failed, figures.requests),
      trend: series.refused,
    },
    isFree || {
      name: 'In progress',
      value: count(sum('in_flight')),
      more: `now, of at most ${count(sum('in_flight_max'))}`,
      href: addressOf('system'),
    },
  ].filter((one) => one !== true);
}

export function kindOfFailed(failed, requests) {
  if (failed === 0) return undefined;
  return failed >= FAILED_BAD_MIN && failed >= FAILED_BAD * requests ? 'bad' : 'warn';
}

/** @param unserved how many of the refused got a 5xx */
export function kindOfRefused(refused, unserved, requests) {
  return kindOfFailed(unserved, requests) ?? (refused > REFUSED_WARNED * requests ? 'warn' : undefined);
}
