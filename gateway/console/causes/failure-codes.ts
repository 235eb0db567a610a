// Finds the error codes with which requests to operations fail. The counts by operation have no codes. So the codes are read from recent log
// lines, only while requests fail, which costs other requests nothing.

import { MINUTE_MS } from '../../shared/durations.ts';
import type { ExchangeFilter, ExchangeLine } from '../../shared/questions/exchange-filter.ts';

/** The codes of each operation, beginning with the most frequent code. */
export type FailureCodes = ReadonlyMap<string, readonly string[]>;

/** Maximum number of operations whose lines are read at a time. Causes name only a few, and each read goes through all kept lines. */
const OPERATIONS_MAX = 8;
/** Maximum number of lines that are read of an operation: enough to distinguish the usual code from a rare one. */
const LINES_MAX = 200;

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
