// Pure: tests log lines against a filter of exchanges.

import { brokeContract, hasFailed, wasRefused } from '../../shared/failed-requests.ts';
import type { ExchangeFilter, ExchangeLine, PlaceInList } from '../../shared/questions/exchange-filter.ts';

/** Whether a line is wanted. `read` parses the line, which costs more than the tests before it. */
export type Matches = (line: string, read: () => ExchangeLine | undefined) => boolean;

interface Matcher {
  /** Every line that matches contains this text. */
  readonly needle: string;
  readonly matches: Matches;
}

const UNMATCHED = 'unmatched';
const TIME = /"time":(\d+)/;
const STATUS = /"status":(\d+)/;
const DURATION = /"duration_ms":([\d.]+)/;

export function matcherOf(filter: ExchangeFilter): Matcher {
  const { status } = filter;
  const wanted = membersWanted(filter);
  const needles = wanted.map(([member, value]) => `"${member}":${JSON.stringify(value)}`);
  if (status === 'broken') needles.push('"answer_violations":');
  const isStatus = statusTest(status);
  const isWanted = exchangeTest(filter, wanted);

  return {
    needle: needles[0] ?? '"msg":"exchange"',
    matches(line, read) {
      if (!needles.every((needle) => line.includes(needle)) || !isWithin(line, filter)) return false;
      if (status !== undefined && !isStatus(numberIn(line, STATUS))) return false;
      const exchange = read();
      return exchange !== undefined && isWanted(exchange);
    },
  };
}

/** Returns a function that tests parsed lines, which may come from another process. */
export function exchangeTest(filter: ExchangeFilter, wanted = membersWanted(filter)): (line: ExchangeLine) => boolean {
  const { fromMs = 0, toMs = Number.POSITIVE_INFINITY, durationMinMs, behind, operation } = filter;
  const isStatus = statusTest(filter.status);
  const isUnmatched = operation?.endsWith(` ${UNMATCHED}`) === true;
  return (line) =>
    wanted.every(([member, value]) => line[member] === value) &&
    (!isUnmatched || line.route === undefined) &&
    isStatus(Number(line.status)) &&
    (filter.status !== 'refused' || wasRefused(line)) &&
    (filter.status !== 'service_failed' || hasFailed(line)) &&
    (filter.status !== 'broken' || brokeContract(line)) &&
    Number(line.time) >= fromMs &&
    Number(line.time) < toMs &&
    (durationMinMs === undefined || Number(line.duration_ms) >= durationMinMs) &&
    isBehind(behind, line);
}

/** Returns members of the line with their required values. */
function membersWanted(filter: ExchangeFilter): (readonly [member: string, value: string])[] {
  const { code, operationId, organization, key, client, upstream, operation, mode, issuer, subject } = filter;
  const [method, route] = operation?.split(' ') ?? [];
  const named: readonly (readonly [string, string | undefined])[] = [
    // The search uses the first of these members that the filter contains. The rarest values come first, because fewer lines contain a
    // certain code or key than a certain organization.
    ['code', code],
    ['key_id', key],
    ['subject', subject],
    ['client', client],
    ['operation', operationId],
    ['organization', organization],
    ['upstream', upstream],
    ['token_issuer', issuer],
    ['mode', mode],
    ['route', route === UNMATCHED ? undefined : route],
    ['method', method === '_OTHER' ? undefined : method],
  ];
  return named.flatMap(([member, value]) => (value === undefined ? [] : [[member, value] as const]));
}

function statusTest(status: string | undefined): (of: number) => boolean {
  if (status === undefined || status === 'broken') return () => true;
  if (status === 'failed' || status === 'refused') return (of) => of >= 400;
  if (status === 'service_failed') return (of) => of >= 500;
  return /^[1-5]xx$/.test(status) ? (of) => Math.floor(of / 100) === Number(status[0]) : (of) => of === Number(status);
}

function isBehind(place: PlaceInList | undefined, { time, request_id: id }: ExchangeLine): boolean {
  if (place === undefined || Number(time) < place.atMs) return true;
  return Number(time) === place.atMs && String(id) < place.requestId;
}

/** Compares the times without parsing the line. */
function isWithin(
  line: string,
  { fromMs = 0, toMs = Number.POSITIVE_INFINITY, durationMinMs, behind }: ExchangeFilter,
): boolean {
  const lastMs = behind?.atMs ?? Number.POSITIVE_INFINITY;
  if (fromMs > 0 || toMs < Number.POSITIVE_INFINITY || lastMs < Number.POSITIVE_INFINITY) {
    const time = timeIn(line);
    if (time < fromMs || time >= toMs || time > lastMs) return false;
  }
  if (durationMinMs === undefined) return true;
  return numberIn(line, DURATION) >= durationMinMs;
}

/** Reads the time of a line in epoch milliseconds, without parsing the line. */
export function timeIn(line: string): number {
  return numberIn(line, TIME);
}

function numberIn(line: string, member: RegExp): number {
  return Number(member.exec(line)?.[1]);
}
