// Pure: what the numbers, times and keys of an account mean for readers.

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const moments = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const times = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

const DAY_MS = 86_400_000;

export const count = (value) => (Number.isFinite(value) ? whole.format(value) : '–');

/** A time by the reader's clock; `never` if there is none. */
export function moment(iso, never = 'never') {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? never : moments.format(ms);
}

/** A time of today without the date. */
export function timeOfDay(iso, nowMs) {
  const ms = Date.parse(iso);
  if (Number.isNaN(ms)) return 'at a time that is not known';
  return Math.abs(nowMs - ms) < DAY_MS / 2 ? times.format(ms) : moments.format(ms);
}

/** `2026-11-26` → `26 Nov` */
export const dayText = (dayMs) => days.format(dayMs);

export function spanText(seconds) {
  for (const [unit, length] of [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
  ])
    if (seconds % length === 0) return seconds === length ? unit : `${count(seconds / length)} ${unit}s`;
  return seconds === 1 ? 'second' : `${count(seconds)} seconds`;
}

const NEAR = 0.75;

/** How full a limit is, from 0 to 1, and the level that its bar has. */
export function fillOf({ limit, used, remaining }) {
  const share = limit > 0 ? Math.min(1, Math.max(0, used / limit)) : 1;
  const level = remaining <= 0 ? 'full' : share >= NEAR ? 'near' : 'free';
  return { share, level };
}

/** The fullest first; limits that refuse nothing last. */
export function inOrderOfNeed(limits) {
  const rank = (one) => (one.enforced === false ? -1 : ['free', 'near', 'full'].indexOf(fillOf(one).level));
  // Sorts by name where the need is alike, so that a few requests more do not change the order.
  const nameOf = ({ policy, key_id: keyId }) => `${policy} ${keyId ?? ''}`;
  return [...limits].sort((one, other) => rank(other) - rank(one) || nameOf(one).localeCompare(nameOf(other), 'en'));
}

/** The UTC days up to today, each by its beginning. */
export function lastDays(nowMs, length) {
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  return Array.from({ length }, (_, index) => today - (length - 1 - index) * DAY_MS);
}

/** One number for each day, from rows of the operation `getUsage`. */
export function perDay(rows, dayList) {
  const sums = new Map(dayList.map((dayMs) => [dayMs, 0]));
  for (const { from, requests } of rows) {
    const dayMs = Math.floor(Date.parse(from) / DAY_MS) * DAY_MS;
    if (sums.has(dayMs) && Number.isFinite(requests)) sums.set(dayMs, sums.get(dayMs) + requests);
  }
  return [...sums.values()];
}

export const TOGETHER = 'counted together';

/** Operations with their number of requests, the busiest first. */
export function byOperation(rows) {
  const sums = new Map();
  for (const { operation_id: id, requests } of rows) {
    if (Number.isFinite(requests)) sums.set(id ?? null, (sums.get(id ?? null) ?? 0) + requests);
  }
  return [...sums]
    .map(([id, requests]) => ({ id, name: id ?? TOGETHER, requests }))
    .sort((one, other) => other.requests - one.requests);
}

/** The totals without the parts. It is never negative, although the parts may be some seconds newer than the totals. */
export function remainderOf(totals, parts) {
  return totals.map((total, index) => Math.max(0, total - parts.reduce((sum, values) => sum + values[index], 0)));
}

/** Values at even steps of 1, 2 or 5 (times a power of ten) from zero to at least the greatest; requests are whole. */
export function countTicks(greatest) {
  const rough = Math.max(greatest, 4) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((part) => part * power).find((one) => one >= rough * 0.999);
  return Array.from({ length: Math.ceil(greatest / step - 1e-9) + 1 || 1 }, (_, index) => index * step);
}

const LOOK_UPS = /^\/gateway\/v1\/requests(\/|$)/;

/**
 * Whether the list shows a request. It does not show the reads of this page, nor look-ups of requests, which would fill the list
 * that they read.
 */
export function isWorthALook({ method, status, path, code }) {
  const isReadOfPage = method === 'GET' && status < 400 && (path ?? '').startsWith('/gateway/v1/');
  const isAskedByPage = path === '/gateway/v1/organization' && code === 'insufficient_scope';
  return !isReadOfPage && !isAskedByPage && !LOOK_UPS.test(path ?? '');
}

/** The visible ends of a key or a token. */
export function maskOf(key) {
  return key.length < 24 ? '…' : `${key.slice(0, 12)}…${key.slice(-4)}`;
}

/** The record of the key that the page uses; undefined for a token, and for a key that is not among them. */
export function ownKeyIn(keys, secret) {
  const found = keys.filter(
    ({ state, prefix, last_four: end }) =>
      state === 'active' && prefix && end && secret.startsWith(prefix) && secret.endsWith(end),
  );
  // The visible ends of two keys may be the same. The page then knows nothing about either.
  return found.length === 1 ? found[0] : undefined;
}

/** Whether the page offers to change keys. A token does not show its scopes, so the gateway decides. */
export function mayChangeKeys(own) {
  return own === undefined || listOf(own.scopes).includes('gateway:keys');
}

const OWN_SCOPES = ['gateway:keys', 'gateway:read'];

/** The scopes that the page offers for a new key. The gateway decides. `known` are the scopes of the contracts. */
export function grantableScopes(own, known) {
  const held = own === undefined ? [...known, '*', ...OWN_SCOPES] : listOf(own.scopes);
  const covered = held.includes('*') ? known.filter((scope) => !scope.startsWith('gateway:')) : [];
  const others = held.filter((scope) => scope !== '*' && (own !== undefined || !/^gateway:.*:/.test(scope)));
  const sorted = [...new Set([...others, ...covered])].sort();
  return held.includes('*') ? ['*', ...sorted] : sorted;
}

export const listOf = (value) => (Array.isArray(value) ? value : []);

/** Lines of a text field, without empty ones. */
export const linesOf = (text) =>
  [...new Set(text.split(/[\n,]/).map((line) => line.trim()))].filter((line) => line !== '');

/** Says on how many gateways a change is in force, after a request with `wait`. */
export function inForceText(inForce) {
  if (typeof inForce !== 'object' || inForce === null) return 'It is in force within seconds.';
  const { confirmed, unconfirmed, waited_ms: waitedMs } = inForce;
  const gateways = (number) => `${count(number)} ${number === 1 ? 'gateway' : 'gateways'}`;
  if (!(unconfirmed > 0))
    return `In force on ${confirmed === 1 ? 'the gateway' : `all ${gateways(confirmed)}`} after ${count(waitedMs)} ms.`;
  return `In force on ${gateways(confirmed)}; ${gateways(unconfirmed)} had not confirmed it after ${count(waitedMs / 1000)} s. The change stays.`;
}

/** Whether an id can be a part of a path. Browsers would resolve `.` and `..`. */
export const isAddressable = (id) => /^[A-Za-z0-9._-]{1,128}$/.test(id) && !/^\.{1,2}$/.test(id);
