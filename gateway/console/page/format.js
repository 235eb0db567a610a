// Formats numbers and times for readers. Times are in the reader's time zone. The title of the element has the exact time.

import { element } from './elements.js';

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const timeWithSeconds = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const date = new Intl.DateTimeFormat('en-GB', { year: 'numeric', month: 'short', day: 'numeric' });
const DAY_AND_TIME_OPTIONS = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' };
const dayAndTime = new Intl.DateTimeFormat('en-GB', DAY_AND_TIME_OPTIONS);
const yearAndTime = new Intl.DateTimeFormat('en-GB', { year: 'numeric', ...DAY_AND_TIME_OPTIONS });

export const NONE = '–';
const DAY_MS = 86_400_000;

export function count(value) {
  return value < 100_000 ? whole.format(value) : compact.format(value);
}

/** Writes a rate with three digits, which are enough at a glance. */
export function rate(value) {
  if (value === 0) return '0';
  if (value >= 1000) return count(value);
  if (value < 0.01) return '<0.01';
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2).replace(/\.0+$/, '');
}

/**
 * Writes a quantile, which is estimated from buckets. The first bucket ends at 0.5 ms and the last at 10 s. A sign distinguishes quantiles
 * from measured durations.
 */
export function quantile(ms) {
  if (ms === null || ms === undefined) return NONE;
  if (ms <= 0.5) return '≤0.5 ms';
  return ms >= 10_000 ? '≥10 s' : `≈${duration(ms)}`;
}

/** Writes a measured duration, in milliseconds. */
export function duration(ms) {
  if (ms === null || ms === undefined) return NONE;
  if (ms < 1) return `${Number(ms.toFixed(2))} ms`;
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return `${(ms / 1000).toFixed(ms >= 99_950 ? 0 : 1).replace(/\.0$/, '')} s`;
}

/**
 * Returns the parts of the duration of a request, in milliseconds: those of the gateway, of the upstream until it began to answer, and of
 * the transfer to the client. The line of a fast request does not tell the transfer from the gateway.
 */
export function partsOf({ duration_ms: all, upstream_ms: upstream, stages_ms: stages, queued_ms: queued = 0 }) {
  const isKnown = upstream !== undefined && stages?.forward !== undefined;
  const transfer = isKnown ? Math.max(0, stages.forward - queued - upstream) : undefined;
  return { own: Math.max(0, all - (upstream ?? 0) - (transfer ?? 0)), upstream, transfer };
}

/** Writes a period in seconds as words. */
export function period(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** Returns the name of the time that "the last minute" covers: a little less than a minute, until its last slot has ended. */
export const lastSpan = (seconds) => (seconds > 55 && seconds < 65 ? 'minute' : period(seconds));

export function percent(part, all) {
  if (all === 0) return NONE;
  const value = (100 * part) / all;
  if (value === 0) return '0 %';
  return value < 0.1 ? '<0.1 %' : `${value.toFixed(value < 10 ? 1 : 0)} %`;
}

export function bytes(value) {
  if (value < 1024) return `${value} B`;
  if (value < 1_048_576) return `${(value / 1024).toFixed(0)} KiB`;
  return `${(value / 1_048_576).toFixed(value < 10_485_760 ? 1 : 0)} MiB`;
}

export const clock = (ms) => time.format(ms);
export const clockWithSeconds = (ms) => timeWithSeconds.format(ms);
export const day = (ms) => date.format(ms);

let aheadMs = 0;

/** Returns the time by the gateway's clock. The reader's clock may be wrong by minutes. */
export const gatewayNow = () => Date.now() + aheadMs;

/** Sets the gateway's clock from the time in a response. */
export function setGatewayTime(iso) {
  aheadMs = Date.parse(iso) - Date.now();
}

const isToday = (ms) => day(ms) === day(gatewayNow());

/** Writes the time of day to the second, because several events happen in one minute; with the date if it is another day. */
export function moment(iso) {
  const ms = Date.parse(iso);
  if (Math.abs(gatewayNow() - ms) < DAY_MS / 2 || isToday(ms)) return clockWithSeconds(ms);
  const isThisYear = new Date(ms).getFullYear() === new Date(gatewayNow()).getFullYear();
  return (isThisYear ? dayAndTime : yearAndTime).format(ms);
}

/** Writes the time of day to the millisecond. */
export function clockWithMilliseconds(ms) {
  return `${clockWithSeconds(ms)}.${String(ms % 1000).padStart(3, '0')}`;
}

/** Makes an element for a time, as people read it. Its title has the exact time. */
export function timeElement(iso, text = moment(iso)) {
  return element('time', { datetime: iso, title: iso }, text);
}

/** Replaces times of ISO 8601 within a sentence by times of day. */
export function withTimes(sentence, textOf = moment) {
  return sentence.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (iso) => textOf(iso));
}

/** Writes the time from a moment to now. */
export function ago(iso) {
  const seconds = Math.max(0, Math.round((gatewayNow() - Date.parse(iso)) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86_400)} days ago`;
}

/** Makes an element for a moment, with the time from it to now. */
export const timeAgo = (iso) => timeElement(iso, `${moment(iso)}, ${ago(iso)}`);

/** Returns the name of an operation for readers. Metrics have `GET unmatched` also for requests that were refused early. */
export function operationName(name) {
  return name.replace(/ unmatched$/, ' (not matched, or refused before)');
}

/** Returns the name of an operation with the method in a separate element, because such a list is easier to scan. */
export function operationLabel(name) {
  const [, method, path] = /^([A-Z]{3,7}) (.+)$/.exec(operationName(name)) ?? [];
  return method === undefined
    ? operationName(name)
    : element('span', {}, element('span', { class: 'verb' }, method), ` ${path}`);
}

/** Writes `half_open` and similar names as words. */
export function words(name) {
  return String(name).replaceAll('_', ' ');
}
