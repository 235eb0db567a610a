// Formats numbers and times for readers.

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const timeWithSeconds = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const date = new Intl.DateTimeFormat('en-GB', { year: 'numeric', month: 'short', day: 'numeric' });

export const NONE = '–';

export function count(value) {
  return value < 100_000 ? whole.format(value) : compact.format(value);
}

/** Three digits are enough at a glance. */
export function rate(value) {
  if (value === 0) return '0';
  if (value >= 1000) return count(value);
  if (value < 0.01) return '<0.01';
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2).replace(/\.0+$/, '');
}

/** Durations come from buckets: the first ends at 5 ms and the last at 10 s. */
export function duration(ms) {
  if (ms === null || ms === undefined) return NONE;
  if (ms <= 5) return '≤5 ms';
  if (ms >= 10_000) return '≥10 s';
  return inUnit(ms);
}

function inUnit(ms) {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return `${(ms / 1000).toFixed(ms >= 9950 ? 0 : 1).replace(/\.0$/, '')} s`;
}

export function percent(part, all) {
  if (all === 0) return NONE;
  const value = (100 * part) / all;
  if (value === 0) return '0 %';
  return value < 0.1 ? '<0.1 %' : `${value.toFixed(value < 10 ? 1 : 0)} %`;
}

export const clock = (ms) => time.format(ms);
export const clockWithSeconds = (ms) => timeWithSeconds.format(ms);
export const day = (ms) => date.format(ms);

/** The time between two moments, both epoch milliseconds. */
export function ago(ms, nowMs) {
  const seconds = Math.max(0, Math.round((nowMs - ms) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86_400)} days ago`;
}

/** Writes `half_open` and similar names as words. */
export function words(name) {
  return String(name).replaceAll('_', ' ');
}
