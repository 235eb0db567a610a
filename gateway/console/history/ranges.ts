// The periods that the console can show, and the resolutions in which counts are kept for them.

import { DAY_MS, MINUTE_MS } from '../../shared/durations.ts';

/**
 * Each resolution keeps its latest slots. The first resolution is the finest. The last resolution covers two days, so that a day can be
 * compared with the day before.
 */
export const RESOLUTIONS = [
  { slotMs: 15_000, slots: 60 },
  { slotMs: MINUTE_MS, slots: 60 },
  { slotMs: 300_000, slots: 576 },
] as const;

/** Resolution and number of slots by range. */
export const RANGES = {
  '15m': { resolution: 0, slots: 60 },
  '1h': { resolution: 1, slots: 60 },
  '6h': { resolution: 2, slots: 72 },
  '24h': { resolution: 2, slots: 288 },
} as const;

export type Range = keyof typeof RANGES;

/** A period that ends now, or a period between two times, in epoch milliseconds. */
export interface ShownTime {
  readonly range: Range | 'free';
  /** The start of a free range; undefined for a range that ends now. */
  readonly fromMs?: number;
  readonly toMs?: number;
}

/** The slots of a span in one resolution. `lastSlot` may be in the future. */
export interface SlotSpan {
  readonly resolution: 0 | 1 | 2;
  readonly firstSlot: number;
  readonly lastSlot: number;
}

/** The resolution in which a time is compared with the day before. */
export const COARSEST = 2;
export const YESTERDAY_SLOTS = DAY_MS / RESOLUTIONS[COARSEST].slotMs;

/**
 * Reads the span of a question. If `from` and `to` are two times in order, in ISO 8601, the span is a free range. Otherwise it is the range
 * that the question names, or the shortest range for an unknown name.
 */
export function spanOf(query: URLSearchParams): ShownTime {
  const fromMs = Date.parse(query.get('from') ?? '');
  const toMs = Date.parse(query.get('to') ?? '');
  if (fromMs < toMs) return { range: 'free', fromMs, toMs };
  const name = query.get('range');
  return { range: name !== null && Object.hasOwn(RANGES, name) ? (name as Range) : '15m' };
}

/** Returns the start of a span in charts, in epoch milliseconds. */
export function startMsOf(span: ShownTime, nowMs: number): number {
  const { resolution, firstSlot } = slotsOf(span, nowMs);
  return span.fromMs ?? firstSlot * RESOLUTIONS[resolution].slotMs;
}

/**
 * Returns the finest resolution that covers the beginning of a span, and its slots in the span, which are at least one, and none in the
 * future.
 */
export function slotsOf({ range, fromMs = 0, toMs = 0 }: ShownTime, nowMs: number): SlotSpan {
  if (range !== 'free') {
    const { resolution, slots } = RANGES[range];
    const lastSlot = Math.floor(nowMs / RESOLUTIONS[resolution].slotMs);
    return { resolution, firstSlot: lastSlot - slots + 1, lastSlot };
  }
  const reaching = RESOLUTIONS.findIndex(({ slotMs, slots }) => Math.floor(nowMs / slotMs) - slots < fromMs / slotMs);
  const resolution = (reaching === -1 ? COARSEST : reaching) as SlotSpan['resolution'];
  const { slotMs, slots } = RESOLUTIONS[resolution];
  const newest = Math.floor(nowMs / slotMs);
  const firstSlot = Math.max(newest - slots + 1, Math.min(newest, Math.floor(fromMs / slotMs)));
  return { resolution, firstSlot, lastSlot: Math.max(firstSlot, Math.min(newest, Math.ceil(toMs / slotMs) - 1)) };
}

/** The times between which requests are counted, in epoch milliseconds. */
interface Edges {
  readonly beginMs: number;
  readonly endMs: number;
}

/**
 * Returns the edges of a span. A free range may begin and end within its slots. While finer slots are kept, the rest of these slots is left
 * out, so that a link shows the same numbers later, when only coarser slots cover its beginning.
 *
 * @param newest the current slot of each resolution
 */
export function edgesOf(
  { fromMs, toMs }: ShownTime,
  { resolution, firstSlot, lastSlot }: SlotSpan,
  newest: readonly number[],
): Edges {
  const { slotMs } = RESOLUTIONS[resolution];
  const [beginMs, endMs] = [firstSlot * slotMs, (lastSlot + 1) * slotMs];
  if (fromMs === undefined || toMs === undefined) return { beginMs, endMs };
  const finestAt = (atMs: number) =>
    RESOLUTIONS.find(({ slotMs: ms, slots }, index) => ((newest[index] as number) - slots + 1) * ms <= atMs)?.slotMs ??
    slotMs;
  const [startSlotMs, endSlotMs] = [finestAt(fromMs), finestAt(lastSlot * slotMs)];
  return {
    beginMs: Math.max(beginMs, Math.floor(fromMs / startSlotMs) * startSlotMs),
    endMs: Math.min(endMs, Math.ceil(toMs / endSlotMs) * endSlotMs),
  };
}

/** Returns the slots with the counts of one slot of a span: the slot itself, or finer slots if an edge is within it. */
export function withinEdges(resolution: SlotSpan['resolution'], slot: number, { beginMs, endMs }: Edges): SlotSpan {
  const { slotMs } = RESOLUTIONS[resolution];
  const [fromMs, toMs] = [Math.max(slot * slotMs, beginMs), Math.min((slot + 1) * slotMs, endMs)];
  const fits = RESOLUTIONS.findLastIndex(
    ({ slotMs: ms }, index) => index <= resolution && fromMs % ms === 0 && toMs % ms === 0,
  );
  const fine = Math.max(0, fits) as SlotSpan['resolution'];
  const { slotMs: fineMs } = RESOLUTIONS[fine];
  return { resolution: fine, firstSlot: Math.floor(fromMs / fineMs), lastSlot: Math.ceil(toMs / fineMs) - 1 };
}
