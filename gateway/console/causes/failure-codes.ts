// Finds the error codes with which requests to operations fail, how answers break the contract, and since when. The counts by operation
// have none of these. They are therefore read from recent log lines, but only while requests fail or break a contract, so other requests
// cost nothing more.

import { MINUTE_MS } from '../../shared/durations.ts';
import type { ExchangeFilter, ExchangeLine } from '../../shared/questions/exchange-filter.ts';

interface Failures {
  /** The most frequent code first. */
  readonly codes: readonly string[];
  /** The end of the first failed request that is read: ISO 8601, UTC. */
  readonly since: string | undefined;
  /** The origin to which each failed request was sent last. */
  readonly targets: readonly string[];
  /** The latest answer, if it breaks the contract. */
  readonly broken?: BrokenAnswer | undefined;
}

export interface BrokenAnswer {
  readonly requestId: string;
  /** The place in the answer, and what the contract says. */
  readonly violation: string;
}

/** The failures of each operation. */
export type FailureCodes = ReadonlyMap<string, Failures>;

/** Maximum number of operations whose lines are read at a time. Causes name only a few, and each read goes through all kept lines. */
const OPERATIONS_MAX = 8;
/** The maximum number of lines that are read for an operation, which suffices to distinguish the usual code from a rare code. */
const LINES_MAX = 200;

/** @param broken operations that do not fail, and whose answers break the contract */
export async function failureCodesOf(
  failing: readonly string[],
  broken: readonly string[],
  recent: (filter: ExchangeFilter) => Promise<readonly ExchangeLine[]>,
  nowMs: number,
): Promise<FailureCodes> {
  const read = [...failing, ...broken].slice(0, OPERATIONS_MAX).map(async (operation) => {
    const status = failing.includes(operation) ? 'service_failed' : undefined;
    const all = await recent({ operation, status, fromMs: nowMs - MINUTE_MS, limit: LINES_MAX });
    // An answer that clients get as an error is a failure.
    const isBroken = (line: ExchangeLine) => line.code === undefined && brokenAnswerOf(line) !== undefined;
    const lines = status === undefined ? all.filter(isBroken) : all;
    const codes = byFrequency(lines);
    const since = firstFailureAt(lines);
    return [
      operation,
      { codes, since, targets: targetsIn(lines), broken: lines[0] && brokenAnswerOf(lines[0]) },
    ] as const;
  });
  return new Map(await Promise.all(read));
}

function brokenAnswerOf({
  request_id: requestId,
  answer_violations: violations,
}: ExchangeLine): BrokenAnswer | undefined {
  const [violation] = Array.isArray(violations) ? violations : [];
  return violation === undefined ? undefined : { requestId: String(requestId), violation: String(violation) };
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
