// Reports the usage of an organization, as sums by period and group, in pages. A page reads a bounded number of counts. A page that would
// read more ends early, and the next page continues there.

import { DAY_MS } from '../shared/durations.ts';
import { PERIOD_UNITS, type PeriodUnit, periodEnd, periodStart, spanAt } from './periods.ts';
import { keptFromMs, type StatusClass, type UsageCount, type UsageStore } from './store.ts';
import { BEHIND_MS } from './writer.ts';

/** The number of counts after which a page ends. The piece that exceeds the number is read to its end. */
const COUNTS_MAX = 50_000;
/** Maximum number of spans that one page reads. */
const SPANS_MAX = 500;
/** An older mark belongs to an instance that was killed, or that cannot reach the store. */
const SILENT_MAX_MS = 60_000;
const STATUS_CLASSES = 5;

/** The properties by which a report can group its sums, in the order in which it sorts them. */
export const USAGE_GROUPS = ['operation', 'key', 'status_class'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

export interface UsageQuestion {
  readonly organization: string;
  readonly unit: PeriodUnit;
  /** A moment in the first period. Epoch milliseconds. */
  readonly fromMs: number;
  /** The last period begins before this moment. Epoch milliseconds. */
  readonly toMs: number;
  readonly groups: readonly UsageGroup[];
  readonly operation?: string | undefined;
  readonly key?: string | undefined;
  /** Maximum number of sums of a page. */
  readonly limit: number;
  /** The `next` of the page before. */
  readonly position?: UsagePosition | undefined;
}

/** The place where a page ended: in a period, after a group. Without a group, the page ended before the period. */
export interface UsagePosition {
  readonly periodMs: number;
  readonly after?: UsageGroupValues | undefined;
}

/** The operation, key and status class of a group. A value by which the report does not group is empty. */
type UsageGroupValues = readonly [operation: string, key: string, statusClass: string];

export interface UsageSum {
  readonly fromMs: number;
  readonly toMs: number;
  /**
   * The operation; undefined if the report does not group by operation. Null if the requests were counted without their operation, because
   * there were too many details.
   */
  readonly operation?: string | null;
  readonly key?: string | null;
  /** `2xx` */
  readonly statusClass?: string;
  readonly requests: number;
}

export interface UsagePage {
  readonly sums: readonly UsageSum[];
  /** The place where the next page begins; undefined after the last page. */
  readonly next: UsagePosition | undefined;
  /** All requests that ended before this time are in the counts, as far as the instances have reported. */
  readonly completeUntilMs: number;
}

interface UsageReportOptions {
  readonly store: UsageStore;
  readonly keepDays: number;
  readonly nowMs: number;
}

/** Returns a page of the report. Periods without requests are left out. Rejects if the store cannot be reached. */
export async function usagePage(question: UsageQuestion, options: UsageReportOptions): Promise<UsagePage> {
  const { store, nowMs } = options;
  // The marks are read before the counts, because counts that are written meanwhile may be missing in the page.
  const completeUntilMs = completeUntil(await store.marks(), nowMs);
  const { sums, next } = await readSums(question, store, boundsOf(question, options));
  return { sums: sums.map((sum) => toUsageSum(sum, question)), next, completeUntilMs };
}

/** Returns the moment before which all counts are written. The last seconds are left out, because a new instance has no mark yet. */
function completeUntil(marks: readonly number[], nowMs: number): number {
  const heard = marks.filter((mark) => mark > nowMs - SILENT_MAX_MS);
  return Math.min(nowMs - BEHIND_MS, ...heard);
}

interface Bounds {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Extends the bounds to whole periods, and cuts off the days that are no longer kept. */
function boundsOf({ unit, fromMs, toMs, position }: UsageQuestion, { keepDays, nowMs }: UsageReportOptions): Bounds {
  const firstMs = Math.max(fromMs, keptFromMs(nowMs, keepDays), position?.periodMs ?? Number.NEGATIVE_INFINITY);
  // The clock of another instance may be ahead.
  const lastMs = Math.min(toMs, nowMs + DAY_MS);
  return { fromMs: periodStart(unit, firstMs), toMs: periodEnd(unit, lastMs - 1) };
}

interface Sum {
  readonly periodMs: number;
  readonly values: UsageGroupValues;
  requests: number;
}

async function readSums(question: UsageQuestion, store: UsageStore, { fromMs, toMs }: Bounds) {
  const { organization, unit, operation, key, limit } = question;
  const periods = periodsWanted(question);
  const sums: Sum[] = [];
  let read = 0;
  let spans = 0;
  let next: UsagePosition | undefined;
  for (let atMs = fromMs; atMs < toMs && next === undefined; ) {
    const span = spanAt(unit, atMs);
    const found = createSums(question);
    let untilMs = span.endMs;
    for await (const piece of store.scan({ organization, span, fromMs: atMs, toMs, operation, key, periods })) {
      read += piece.read;
      for (const count of piece.counts) found.add(count);
      const isEnough = read >= COUNTS_MAX || sums.length + found.sizeBefore(piece.untilMs) > limit;
      if (!isEnough || piece.untilMs <= atMs) continue;
      untilMs = Math.min(piece.untilMs, span.endMs);
      break;
    }
    // A period of which this piece contains only a part is left out, because the next scan reads it again.
    sums.push(...found.sorted().filter(({ periodMs }) => periodMs < untilMs));
    spans += 1;
    atMs = untilMs;
    if (sums.length > limit) next = positionOf(sums[limit - 1] as Sum);
    else if (atMs < toMs && (read >= COUNTS_MAX || spans >= SPANS_MAX)) next = { periodMs: atMs };
  }
  return { sums: sums.slice(0, limit), next };
}

/** Returns the number of periods that a page probably needs. Grouped by operation or key, few periods fill a page. */
function periodsWanted({ groups, operation, key, limit }: UsageQuestion): number {
  const sumsOfOne = groups.includes('status_class') ? STATUS_CLASSES : 1;
  const isNarrow = groups.every((group) => group === 'status_class') || (operation ?? key) !== undefined;
  return isNarrow ? Math.ceil((limit + 1) / sumsOfOne) : 4;
}

/** Creates the sums of one span. Sums of earlier pages are left out. */
function createSums({ groups, position }: UsageQuestion) {
  const byOperation = groups.includes('operation');
  const byKey = groups.includes('key');
  const byClass = groups.includes('status_class');
  const periods = new Map<number, Map<string, Sum>>();

  function sumsOf(periodMs: number): Map<string, Sum> {
    const known = periods.get(periodMs) ?? new Map<string, Sum>();
    periods.set(periodMs, known);
    return known;
  }

  return {
    add({ periodMs, operation, key, statusClass, requests }: UsageCount): void {
      const values: UsageGroupValues = [
        byOperation ? operation : '',
        byKey ? key : '',
        byClass ? nameOfClass(statusClass) : '',
      ];
      if (!isAfter({ periodMs, values }, position)) return;
      const sums = sumsOf(periodMs);
      const name = groups.length === 0 ? '' : JSON.stringify(values);
      const sum = sums.get(name);
      if (sum !== undefined) {
        sum.requests += requests;
        return;
      }
      sums.set(name, { periodMs, values, requests });
    },
    /** Returns the number of sums in periods that begin before a moment. */
    sizeBefore(untilMs: number): number {
      let size = 0;
      for (const [periodMs, sums] of periods) if (periodMs < untilMs) size += sums.size;
      return size;
    },
    sorted: (): Sum[] => [...periods.values()].flatMap((sums) => [...sums.values()]).sort(inOrder),
  };
}

function nameOfClass(statusClass: StatusClass): string {
  return `${statusClass}xx`;
}

function inOrder(one: Pick<Sum, 'periodMs' | 'values'>, other: Pick<Sum, 'periodMs' | 'values'>): number {
  if (one.periodMs !== other.periodMs) return one.periodMs - other.periodMs;
  const index = one.values.findIndex((value, place) => value !== other.values[place]);
  return index === -1 ? 0 : (one.values[index] as string) < (other.values[index] as string) ? -1 : 1;
}

function isAfter(sum: Pick<Sum, 'periodMs' | 'values'>, position: UsagePosition | undefined): boolean {
  if (position === undefined) return true;
  const { periodMs, after } = position;
  return after === undefined ? sum.periodMs >= periodMs : inOrder(sum, { periodMs, values: after }) > 0;
}

function positionOf({ periodMs, values }: Sum): UsagePosition {
  return { periodMs, after: values };
}

function toUsageSum({ periodMs, values, requests }: Sum, { unit, groups }: UsageQuestion): UsageSum {
  const [operation, key, statusClass] = values;
  return {
    fromMs: periodMs,
    toMs: periodEnd(unit, periodMs),
    ...(groups.includes('operation') && { operation: operation || null }),
    ...(groups.includes('key') && { key: key || null }),
    ...(groups.includes('status_class') && { statusClass }),
    requests,
  };
}

/** Writes a position as a short text, for cursors. */
export function positionText({ periodMs, after }: UsagePosition): string {
  return JSON.stringify(after === undefined ? [periodMs] : [periodMs, ...after]);
}

/** Reads the text of `positionText`. */
export function positionIn(text: string): UsagePosition {
  const [periodMs, ...after] = JSON.parse(text) as [number, ...string[]];
  return { periodMs, after: after.length === 0 ? undefined : (after as unknown as UsageGroupValues) };
}

export function isPeriodUnit(text: string): text is PeriodUnit {
  return (PERIOD_UNITS as readonly string[]).includes(text);
}

export function isUsageGroup(text: string): text is UsageGroup {
  return (USAGE_GROUPS as readonly string[]).includes(text);
}
