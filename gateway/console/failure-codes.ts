// The error codes with which requests to operations fail. The counts by operation do not include codes, so these are read from the recent
// log lines, and only while something fails. Requests therefore cost nothing more.

import type { ExchangeFilter, ExchangeLine } from '../shared/questions/exchange-filter.ts';

/** The codes of each operation, those of the most requests first. */
export type FailureCodes = ReadonlyMap<string, readonly string[]>;

/** Most operations whose lines are read at a time. Causes name only a few, and each read goes through all kept lines. */
const OPERATIONS_MAX = 8;
/** Most lines that are read of an operation. They are enough to tell the usual code from a rare one. */
const LINES_MAX = 200;
const MINUTE_MS = 60_000;

export async function failureCodesOf(
  operations: readonly string[],
  recent: (filter: ExchangeFilter) => Promise<readonly ExchangeLine[]>,
  nowMs: number,
): Promise<FailureCodes> {
  const read = operations.slice(0, OPERATIONS_MAX).map(async (operation) => {
    const filter = { operation, status: 'service_failed', fromMs: nowMs - MINUTE_MS, limit: LINES_MAX };
    return [operation, byFrequency(await recent(filter))] as const;
  });
  return new Map(await Promise.all(read));
}

function byFrequency(lines: readonly ExchangeLine[]): string[] {
  const groups = Map.groupBy(lines, ({ code }) => code);
  groups.delete(undefined);
  return [...groups].sort(([, one], [, other]) => other.length - one.length).map(([code]) => String(code));
}
