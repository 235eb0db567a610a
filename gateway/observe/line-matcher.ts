// Pure: tests log lines against a filter of exchanges.

import type { ExchangeFilter, ExchangeLine } from '../shared/exchange-filter.ts';

interface Matcher {
  /** Every line that matches contains this text. */
  readonly needle: string;
  /** `record` parses the line, which costs more than the tests before it. */
  matches(line: string, record: () => ExchangeLine | undefined): boolean;
}

const UNMATCHED = 'unmatched';

export function matcherOf(filter: ExchangeFilter): Matcher {
  const { code, organization, key, client, upstream, status } = filter;
  const [method, route] = filter.operation?.split(' ') ?? [];
  const named: readonly (readonly [string, string | undefined])[] = [
    ['code', code],
    ['organization', organization],
    ['key_id', key],
    ['client', client],
    ['upstream', upstream],
    ['route', route === UNMATCHED ? undefined : route],
    ['method', method === '_OTHER' ? undefined : method],
  ];
  const wanted = named.filter(([, value]) => value !== undefined);
  const needles = wanted.map(([member, value]) => `"${member}":${JSON.stringify(value)}`);
  const isWanted = statusTest(status);

  return {
    needle: needles[0] ?? '"msg":"exchange"',
    matches(line, read) {
      if (!needles.every((needle) => line.includes(needle)) || !isWithin(line, filter)) return false;
      const record = read();
      return (
        record !== undefined &&
        wanted.every(([member, value]) => record[member] === value) &&
        (route !== UNMATCHED || record.route === undefined) &&
        isWanted(Number(record.status))
      );
    },
  };
}

function statusTest(status: string | undefined): (of: number) => boolean {
  if (status === undefined) return () => true;
  if (status === 'failed') return (of) => of >= 400;
  return /^[1-5]xx$/.test(status) ? (of) => Math.floor(of / 100) === Number(status[0]) : (of) => of === Number(status);
}

/** Compares the times without parsing the line. */
function isWithin(line: string, { fromMs, toMs, durationMinMs }: ExchangeFilter): boolean {
  if (fromMs !== undefined || toMs !== undefined) {
    const time = Number(/"time":(\d+)/.exec(line)?.[1]);
    if (time < (fromMs ?? 0) || time >= (toMs ?? Number.POSITIVE_INFINITY)) return false;
  }
  if (durationMinMs === undefined) return true;
  return Number(/"duration_ms":([\d.]+)/.exec(line)?.[1]) >= durationMinMs;
}
