// The figures of a subject, each compared with the day before, and with its trend.

import { addressOf, subjectIn } from './addresses.js';
import { place } from './elements.js';
import { count, lastSpan, percent, quantile, rate } from './format.js';
import { kindOfFailed, kindOfRefused, tileOf } from './tiles.js';
import { timeName } from './time-range.js';

/** A duration that has grown by half since the day before is marked. */
const GREW = 1.5;
/** An upstream may also fail a request by a 4xx, such as one about the credential of the gateway. */
const OF_UPSTREAM = '5xx, or no answer';
const BROKEN = 'Off contract';

/** @param isSlow whether one of the causes is that the subject has become slow */
export function tilesOf(history, subject, isSlow) {
  const { total_seconds: seconds, minute_seconds: minuteSeconds, before_seconds: beforeSeconds, slots } = history;
  const { total, minute, before, series } = history.subject;
  // Figures of the last minute are shown only if the shown time ends now.
  const isNow = history.range !== 'free';
  const [now, over] = isNow ? [minute, minuteSeconds] : [total, seconds];
  return figuresIn(series)
    .filter(([name]) => subject.view !== 'upstreams' || name !== 'Refused')
    .filter(([name]) => name !== BROKEN || total.broken > 0)
    .map(([name, text, figure, trend, params]) => {
      const past =
        before === null ? undefined : { text: text(before, beforeSeconds), value: figure(before, beforeSeconds) };
      const isWorse = /^p/.test(name) && past !== undefined && figure(total, seconds) > past.value * GREW;
      const isWarned = isWorse || (name === 'p99' && isSlow);
      const kind = kindOfHurt(name, now) ?? (isWarned ? 'warn' : undefined);
      const all = isNow ? text(total, seconds) : undefined;
      const shown = name === 'Failed' && subject.view === 'upstreams' ? OF_UPSTREAM : name;
      const value = text(now, over);
      return tile(subject, { name: shown, value, kind, all, yesterday: past?.text, trend, slots, params });
    });
}

/** Returns the figures: the name, the text, the number that is compared, the trend, and the list of requests that it leads to. */
function figuresIn(series) {
  const perSecond = ({ requests }, over) => requests / over;
  const timeIn = (name) => [(one) => quantile(one[name]), (one) => one[name] ?? 0, series[name], { sort: 'duration' }];
  const shareIn = (name, status) => [
    (one) => percent(one[name], one.requests),
    (one) => (one.requests === 0 ? 0 : one[name] / one.requests),
    series[name],
    { status },
  ];
  return [
    ['Requests', (one, over) => `${rate(perSecond(one, over))}/s`, perSecond, series.requests, {}],
    ['p50', ...timeIn('p50_ms')],
    ['p99', ...timeIn('p99_ms')],
    ['Failed', ...shareIn('failed', 'service_failed')],
    ['Refused', ...shareIn('refused', 'refused')],
    [BROKEN, (one) => count(one.broken), (one) => one.broken, undefined, { status: 'broken' }],
  ];
}

/**
 * Shows what the counts of an upstream do not have: how many requests were refused before they were sent, which it does not fail. Only the
 * remembered ones are known.
 */
export function showMore(subject, { operations }) {
  const tiles = place('subject-tiles');
  tiles.querySelector('.more')?.remove();
  const unserved = operations.reduce((sum, one) => sum + one.unserved, 0);
  if (subject.view !== 'upstreams' || tiles.children.length === 0 || unserved === 0) return;
  const figure = { name: 'Not sent', value: `≥ ${count(unserved)}`, kind: 'bad', params: { status: 'refused' } };
  const made = tile(subject, figure);
  made.querySelector('.soft').textContent = 'refused with 5xx, not counted as failed';
  made.classList.add('more');
  tiles.append(made);
}

/** Returns the kind of a figure, as on the first page. A refusal with 5xx hurts clients like a failure. */
function kindOfHurt(name, { requests, failed, refused, broken, server_errors: serverErrors }) {
  if (name === 'Failed') return kindOfFailed(failed, requests);
  if (name === BROKEN) return broken > 0 ? 'warn' : undefined;
  return name === 'Refused' ? kindOfRefused(refused, serverErrors - failed, requests) : undefined;
}

export function codeTiles({ subject: known, slots, minute_seconds: seconds }, subject) {
  const { minute, total, before, series, status } = known;
  const kind = minute > 0 && status >= 500 ? 'bad' : undefined;
  const yesterday = before === null ? undefined : count(before);
  return [
    tile(subject, { name: `Last ${lastSpan(seconds)}`, value: count(minute), kind, params: {} }),
    tile(subject, { name: 'In this time', value: count(total), yesterday, trend: series, slots, params: {} }),
  ];
}

function tile(subject, { all, yesterday, params, ...figure }) {
  const compared = [
    ...(all === undefined ? [] : [`${timeName()} ${all}`]),
    ...(yesterday === undefined ? [] : [`yesterday ${yesterday}`]),
  ];
  const href = addressOf('requests', { ...subjectIn(subject), ...params });
  return tileOf({ ...figure, href, more: compared.join(', ') });
}
