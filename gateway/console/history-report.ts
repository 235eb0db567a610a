// Pure: adds the counts of one or several gateways, and reports them as figures per operation, per code and per slot.

import { type Figures, figuresOf } from './figures.ts';
import { type RangeCounts, type SeriesCounts, sum } from './history.ts';
import type { Range } from './ranges.ts';

const REPORTED_OPERATIONS_MAX = 12;
const REPORTED_CODES_MAX = 20;
/** The current slot is reported from this age on: a younger one says nothing. */
const REPORTED_AFTER_SECONDS = 3;

export interface HistorySeries extends Readonly<Record<keyof Figures, readonly (number | null)[]>> {}

export interface OperationHistory {
  readonly name: string;
  /** Figures of the last minute, and of the range. */
  readonly minute: Figures;
  readonly total: Figures;
  /** One value per slot, oldest first; the last one may still increase. */
  readonly series: HistorySeries;
}

export interface CodeHistory {
  readonly stage: string;
  readonly code: string;
  readonly minute: number;
  readonly total: number;
  readonly series: readonly number[];
}

export interface HistoryReport {
  readonly range: Range;
  readonly slot_seconds: number;
  /** Elapsed seconds of the last slot of every series. */
  readonly last_slot_seconds: number;
  /** Start of the first slot of every series: ISO 8601, UTC. */
  readonly from: string;
  /** Length of the `minute` and `total` periods; shorter soon after a start. */
  readonly minute_seconds: number;
  readonly total_seconds: number;
  readonly all: OperationHistory;
  /** The operations with the most requests first. */
  readonly operations: readonly OperationHistory[];
  /** All other operations together; null: none. */
  readonly others: OperationHistory | null;
  readonly codes: readonly CodeHistory[];
  /** Memory of the counts, in each gateway. */
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
  const endsEarly = lastSlotSeconds < REPORTED_AFTER_SECONDS && lastSlot > firstSlot;
  const slots = lastSlot - firstSlot + (endsEarly ? 0 : 1);
  const add = (of: (counts: RangeCounts) => readonly SeriesCounts[]) => merged(counted, of, firstSlot, lastSlot);
  const [all] = add((counts) => [counts.all]) as [SeriesCounts];
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
    all: historyOf(all),
    operations,
    others: others.total.requests > 0 ? others : null,
    codes: add((counts) => counts.codes)
      .map((counts) => codeHistory(counts, slots))
      .sort((one, other) => other.total - one.total || one.code.localeCompare(other.code))
      .slice(0, REPORTED_CODES_MAX),
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
      byName.set(series.name, { name: series.name, minute, slots });
    }
  }
  return [...byName.values()];
}

function operationHistory(bounds: readonly number[], { name, minute, slots }: SeriesCounts, shown: number) {
  const figures = slots.slice(0, shown).map((values) => figuresOf(bounds, values));
  const valuesOf = <Key extends keyof Figures>(key: Key) => figures.map((one) => one[key]);
  return {
    name,
    minute: figuresOf(bounds, minute),
    total: figuresOf(bounds, sum(slots)),
    series: {
      requests: valuesOf('requests'),
      redirects: valuesOf('redirects'),
      client_errors: valuesOf('client_errors'),
      server_errors: valuesOf('server_errors'),
      p50_ms: valuesOf('p50_ms'),
      p99_ms: valuesOf('p99_ms'),
    },
  };
}

function codeHistory({ name, minute, slots }: SeriesCounts, shown: number): CodeHistory {
  const [stage = '', code = ''] = name.split(' ');
  const counts = slots.map(([count = 0]) => count);
  const total = counts.reduce((one, other) => one + other, 0);
  return { stage, code, minute: minute[0] ?? 0, total, series: counts.slice(0, shown) };
}

/** Subtracts series from one that includes them. */
function without(all: SeriesCounts, parts: readonly SeriesCounts[]): SeriesCounts {
  const rest = (whole: readonly number[], of: (part: SeriesCounts) => readonly number[] | undefined) => {
    const taken = sum(parts.map((part) => of(part) ?? []));
    return whole.map((value, index) => Math.max(0, value - (taken[index] ?? 0)));
  };
  return {
    name: 'other operations',
    minute: rest(all.minute, (part) => part.minute),
    slots: all.slots.map((values, index) => rest(values, (part) => part.slots[index])),
  };
}
