// Pure: adds the counts of one or several gateways, and reports them as figures per operation, per code and per slot.

import { REFUSALS } from '../../catalogue/errors.ts';
import { type Figures, figuresOf } from './figures.ts';
import { type RangeCounts, type SeriesCounts, sum } from './history-counts.ts';
import type { ShownTime } from './ranges.ts';

const REPORTED_OPERATIONS_MAX = 12;
const REPORTED_CODES_MAX = 20;
/** The current slot is reported from its first request on, or from this age on. A younger empty slot says nothing. */
const REPORTED_AFTER_SECONDS = 3;

type HistorySeries = Readonly<Record<Exclude<keyof Figures, 'broken'>, readonly (number | null)[]>>;

interface OperationHistory {
  readonly name: string;
  /** Figures of the last minute, and of the range. */
  readonly minute: Figures;
  readonly total: Figures;
  /** Figures of the same time a day before; null if nothing was counted then. */
  readonly before: Figures | null;
  /** One value per slot, oldest first. The last value may still increase. */
  readonly series: HistorySeries;
}

interface CodeHistory {
  readonly stage: string;
  readonly code: string;
  /** The status that clients get with the code; null if a service chooses it. */
  readonly status: number | null;
  readonly minute: number;
  readonly total: number;
  /** The number in the same time a day before; null if nothing was counted then. */
  readonly before: number | null;
  readonly series: readonly number[];
}

export interface HistoryReport {
  readonly range: ShownTime['range'];
  readonly slot_seconds: number;
  /** Elapsed seconds of the last slot of every series. */
  readonly last_slot_seconds: number;
  /** The start of the first slot of every series, in ISO 8601, UTC. */
  readonly from: string;
  /** Length of the `minute` and `total` periods; shorter soon after a start. */
  readonly minute_seconds: number;
  readonly total_seconds: number;
  /** The length of the earlier time for the comparison; 0 if there is none. */
  readonly before_seconds: number;
  /** The slots of the whole range. The series contain the latest of them. */
  readonly slots: number;
  readonly all: OperationHistory;
  /** The operations with the most requests first. */
  readonly operations: readonly OperationHistory[];
  /** The figures of all other operations together; null if there is none. */
  readonly others: OperationHistory | null;
  readonly codes: readonly CodeHistory[];
  /** The history of the subject; null if it has no counts. */
  readonly subject: OperationHistory | CodeHistory | null;
  /** The memory that the counts take in each gateway. */
  readonly memory: { readonly bytes: number; readonly bytes_max: number };
}

/**
 * @param bounds upper bounds of the duration buckets, in seconds
 * @param counted by each gateway, all in the same range; at least one
 */
export function historyReport(bounds: readonly number[], counted: readonly RangeCounts[]): HistoryReport {
  const [{ range, slotMs }] = counted as readonly [RangeCounts];
  const most = (of: (counts: RangeCounts) => number) => Math.max(...counted.map(of));
  const lastSlot = most((counts) => counts.lastSlot);
  const lastSlotSeconds = most((counts) => (counts.lastSlot === lastSlot ? counts.lastSlotSeconds : 0));
  const firstSlot = -most((counts) => -counts.firstSlot);
  const add = (of: (counts: RangeCounts) => readonly SeriesCounts[]) => merged(counted, of, firstSlot, lastSlot);
  const [all] = add((counts) => [counts.all]) as [SeriesCounts];
  const isEmpty = figuresOf(bounds, all.slots.at(-1) ?? []).requests === 0;
  const endsEarly = isEmpty && lastSlotSeconds < REPORTED_AFTER_SECONDS && lastSlot > firstSlot;
  const slots = lastSlot - firstSlot + (endsEarly ? 0 : 1);
  const historyOf = (counts: SeriesCounts) => operationHistory(bounds, counts, slots);
  const operations = add((counts) => counts.operations)
    .map(historyOf)
    .sort((one, other) => other.total.requests - one.total.requests || one.name.localeCompare(other.name))
    .slice(0, REPORTED_OPERATIONS_MAX);
  const names = new Set(operations.map(({ name }) => name));
  const shown = add((counts) => counts.operations).filter(({ name }) => names.has(name));
  const others = historyOf(without(all, shown));
  return {
    range,
    slot_seconds: slotMs / 1000,
    last_slot_seconds: endsEarly ? slotMs / 1000 : lastSlotSeconds,
    from: new Date(firstSlot * slotMs).toISOString(),
    minute_seconds: most((counts) => counts.minuteSeconds),
    total_seconds: most((counts) => counts.rangeSeconds),
    before_seconds: most((counts) => counts.beforeSeconds),
    slots: most((counts) => counts.slots),
    all: historyOf(all),
    operations,
    others: others.total.requests > 0 ? others : null,
    codes: add((counts) => counts.codes)
      .map((counts) => codeHistory(counts, slots))
      .sort((one, other) => other.total - one.total || one.code.localeCompare(other.code))
      .slice(0, REPORTED_CODES_MAX),
    subject: subjectReport(
      add((counts) => (counts.subject === null ? [] : [counts.subject])),
      historyOf,
      slots,
    ),
    memory: { bytes: most((counts) => counts.bytes), bytes_max: most((counts) => counts.bytesMax) },
  };
}

/** Adds the series of the same name, slot by slot. A gateway that began later, or whose clock differs, has fewer slots. */
function merged(
  counted: readonly RangeCounts[],
  of: (counts: RangeCounts) => readonly SeriesCounts[],
  firstSlot: number,
  lastSlot: number,
): SeriesCounts[] {
  const byName = new Map<string, SeriesCounts>();
  for (const counts of counted) {
    for (const series of of(counts)) {
      const before = byName.get(series.name);
      const width = series.minute.length;
      const slots = Array.from({ length: lastSlot - firstSlot + 1 }, (_, index) => {
        const own = series.slots[firstSlot + index - counts.firstSlot] ?? new Array<number>(width).fill(0);
        return before === undefined ? own : sum([before.slots[index] ?? [], own]);
      });
      const minute = before === undefined ? series.minute : sum([before.minute, series.minute]);
      byName.set(series.name, { name: series.name, minute, slots, before: addedOrNull(before, series) });
    }
  }
  return [...byName.values()];
}

/** Adds earlier counts; null if one gateway did not count at that time, because the sum could not be compared. */
function addedOrNull(one: SeriesCounts | undefined, { before }: SeriesCounts): readonly number[] | null {
  if (one === undefined || before === null) return before;
  return one.before === null ? null : sum([one.before, before]);
}

function subjectReport(
  [subject]: readonly SeriesCounts[],
  historyOf: (counts: SeriesCounts) => OperationHistory,
  slots: number,
): OperationHistory | CodeHistory | null {
  if (subject === undefined) return null;
  return subject.minute.length === 1 ? codeHistory(subject, slots) : historyOf(subject);
}

function operationHistory(bounds: readonly number[], counts: SeriesCounts, shown: number): OperationHistory {
  const { name, minute, slots, before } = counts;
  const figures = slots.slice(0, shown).map((values) => figuresOf(bounds, values));
  const valuesOf = <Key extends keyof Figures>(key: Key) => figures.map((one) => one[key]);
  return {
    name,
    minute: figuresOf(bounds, minute),
    total: figuresOf(bounds, sum(slots)),
    before: before === null ? null : figuresOf(bounds, before),
    series: {
      requests: valuesOf('requests'),
      redirects: valuesOf('redirects'),
      client_errors: valuesOf('client_errors'),
      server_errors: valuesOf('server_errors'),
      failed: valuesOf('failed'),
      refused: valuesOf('refused'),
      p50_ms: valuesOf('p50_ms'),
      p99_ms: valuesOf('p99_ms'),
    },
  };
}

function codeHistory({ name, minute, slots, before }: SeriesCounts, shown: number): CodeHistory {
  const [stage = '', code = ''] = name.includes(' ') ? name.split(' ') : ['', name];
  const counts = slots.map(([count = 0]) => count);
  const total = counts.reduce((one, other) => one + other, 0);
  return {
    stage,
    code,
    status: statusOf(code),
    minute: minute[0] ?? 0,
    total,
    before: before === null ? null : (before[0] ?? 0),
    series: counts.slice(0, shown),
  };
}

function statusOf(code: string): number | null {
  return Object.hasOwn(REFUSALS, code) ? REFUSALS[code as keyof typeof REFUSALS].status : null;
}

/** Subtracts series from a series that includes them. */
function without(all: SeriesCounts, parts: readonly SeriesCounts[]): SeriesCounts {
  const rest = (whole: readonly number[], of: (part: SeriesCounts) => readonly number[] | undefined) => {
    const taken = sum(parts.map((part) => of(part) ?? []));
    return whole.map((value, index) => Math.max(0, value - (taken[index] ?? 0)));
  };
  return {
    name: 'other operations',
    minute: rest(all.minute, (part) => part.minute),
    slots: all.slots.map((values, index) => rest(values, (part) => part.slots[index])),
    before: all.before === null ? null : rest(all.before, (part) => part.before ?? []),
  };
}
