// Finds the error codes with which requests to operations fail, how answers break the contract, and since when. The counts by operation
// have none of these. They are therefore read from recent log lines, but only while requests fail or break a contract, so other requests
// cost nothing more.

import { MINUTE_MS } from '../../shared/durations.ts';
import { lacksCredential } from '../../shared/failed-requests.ts';
import type { ExchangeFilter, ExchangeLine } from '../../shared/questions/exchange-filter.ts';
import { isoTime } from '../../shared/text.ts';

interface Failures {
  /** The most frequent code first. */
  readonly codes: readonly string[];
  /** The end of the first failed request: ISO 8601, UTC. Undefined if it is not among the lines that are read. */
  readonly since: string | undefined;
  /** The origin to which each failed request was sent last. */
  readonly targets: readonly string[];
  /** The setting whose time was over for the latest failed request, such as `timeoutMs 1500`; undefined if it was none. */
  readonly timeout?: string | undefined;
  /** The latest answer that was refused, because it breaks the contract. */
  readonly refused?: BrokenAnswer | undefined;
  /** The latest answer that breaks the contract, and that its client got. */
  readonly passed?: BrokenAnswer | undefined;
  /** The cause of the latest failed request, if its service asks for a credential that the entry does not have. */
  readonly lacking?: string | undefined;
}

export interface BrokenAnswer {
  readonly requestId: string;
  /** The place in the answer, and what the contract says. */
  readonly violation: string;
  /** As in `Failures`, of such answers. */
  readonly since: string | undefined;
}

/** The failures of each operation. */
export type FailureCodes = ReadonlyMap<string, Failures>;

/** Maximum number of operations whose lines are read at a time. Causes name only a few, and each read goes through all kept lines. */
const OPERATIONS_MAX = 8;
/** The maximum number of lines that are read for an operation, which suffices to distinguish the usual code from a rare code. */
const LINES_MAX = 200;

/** @param broken operations with answers that break the contract, and that clients get */
export async function failureCodesOf(
  failing: readonly string[],
  broken: readonly string[],
  recent: (filter: ExchangeFilter) => Promise<readonly ExchangeLine[]>,
  nowMs: number,
): Promise<FailureCodes> {
  const linesOf = (operation: string, status?: 'service_failed') =>
    recent({ operation, status, fromMs: nowMs - MINUTE_MS, limit: LINES_MAX });
  const failures = failing.slice(0, OPERATIONS_MAX).map(async (operation): Promise<[string, Failures]> => {
    const lines = await linesOf(operation, 'service_failed');
    const known = { codes: byFrequency(lines), since: firstAt(lines, lines), targets: targetsIn(lines) };
    const lacking = lines[0] && lacksCredential(lines[0]) ? String(lines[0].cause) : undefined;
    const timeout = lines[0]?.timeout === undefined ? undefined : String(lines[0].timeout);
    return [operation, { ...known, refused: brokenIn(lines, lines), lacking, timeout }];
  });
  const passed = broken.slice(0, OPERATIONS_MAX).map(async (operation) => {
    const lines = await linesOf(operation);
    // An answer that clients get as an error is a failure.
    const isPassed = (line: ExchangeLine) => line.code === undefined && violationIn(line) !== undefined;
    return [operation, brokenIn(lines.filter(isPassed), lines)] as const;
  });
  const known = new Map(await Promise.all(failures));
  for (const [operation, answer] of await Promise.all(passed))
    known.set(operation, { codes: [], since: undefined, targets: [], ...known.get(operation), passed: answer });
  return known;
}

/** Returns the latest of the lines, if its answer breaks the contract. */
function brokenIn(lines: readonly ExchangeLine[], read: readonly ExchangeLine[]): BrokenAnswer | undefined {
  const [latest] = lines;
  const violation = latest && violationIn(latest);
  if (violation === undefined) return undefined;
  return { requestId: String(latest?.request_id), violation, since: firstAt(lines, read) };
}

function violationIn({ answer_violations: violations }: ExchangeLine): string | undefined {
  return Array.isArray(violations) && violations.length > 0 ? String(violations[0]) : undefined;
}

function byFrequency(lines: readonly ExchangeLine[]): string[] {
  const groups = Map.groupBy(lines, ({ code }) => code);
  groups.delete(undefined);
  return [...groups].sort(([, one], [, other]) => other.length - one.length).map(([code]) => String(code));
}

/**
 * Returns the time of the first of the lines, newest first. Undefined if there may be earlier ones, because the lines that were read are
 * only the latest.
 */
function firstAt(lines: readonly ExchangeLine[], read: readonly ExchangeLine[]): string | undefined {
  const first = lines.at(-1);
  return first === undefined || read.length >= LINES_MAX ? undefined : isoTime(Number(first.time));
}

function targetsIn(lines: readonly ExchangeLine[]): string[] {
  return lines.flatMap(({ target }) => (typeof target === 'string' ? [target] : []));
}
