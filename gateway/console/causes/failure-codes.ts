// Finds the error codes with which requests to operations fail, and since when. The counts by operation have neither. Both are therefore
// read from recent log lines, but only while requests fail, so other requests cost nothing more.

import { MINUTE_MS } from '../../shared/durations.ts';
import type { ExchangeFilter, ExchangeLine } from '../../shared/questions/exchange-filter.ts';

interface Failures {
  /** The most frequent code first. */
  readonly codes: readonly string[];
  /** The end of the first failed request that is read: ISO 8601, UTC. */
  readonly since: string | undefined;
  /** The origin to which each failed request was sent last. */
  readonly targets: readonly string[];
}

/** The failures of each operation. */
export type FailureCodes = ReadonlyMap<string, Failures>;

/** Maximum number of operations whose lines are read at a time. Causes name only a few, and each read goes through all kept lines. */
const OPERATIONS_MAX = 8;
/** The maximum number of lines that are read for an operation, which suffices to distinguish the usual code from a rare code. */
const LINES_MAX = 200;

export async function failureCodesOf(
  operations: readonly string[],
  recent: (filter: ExchangeFilter) => Promise<readonly ExchangeLine[]>,
  nowMs: number,
): Promise<FailureCodes> {
  const read = operations.slice(0, OPERATIONS_MAX).map(async (operation) => {
    const filter = { operation, status: 'service_failed', fromMs: nowMs - MINUTE_MS, limit: LINES_MAX };
    const lines = await recent(filter);
    return [operation, { codes: byFrequency(lines), since: firstFailureAt(lines), targets: targetsIn(lines) }] as const;
  });
  return new Map(await Promise.all(read));
}

function byFrequency(lines: readonly ExchangeLine[]): string[] {
  const groups = Map.groupBy(lines, ({ code }) => code);
  groups.delete(undefined);
  return [...groups].sort(([, one], [, other]) => other.length - one.length).map(([code]) => String(code));
}

/** @param lines newest first */
function firstFailureAt(lines: readonly ExchangeLine[]): string | undefined {
  const first = lines.at(-1);
  return first === undefined ? undefined : new Date(Number(first.time)).toISOString();
}

function targetsIn(lines: readonly ExchangeLine[]): string[] {
  return lines.flatMap(({ target }) => (typeof target === 'string' ? [target] : []));
}
