// Reads the counts of a range of time from a history, for the charts of the console.

import { CODES_MAX, type History, KINDS, TRACKED_MAX } from './history.ts';
import { addCounts, type Kind, type RangeCounts, type SeriesCounts, type Subject } from './history-counts.ts';
import { MINUTE_SLOTS } from './present-counts.ts';
import {
  COARSEST,
  edgesOf,
  RESOLUTIONS,
  type ShownTime,
  type SlotSpan,
  slotsOf,
  withinEdges,
  YESTERDAY_SLOTS,
} from './ranges.ts';
import type { SeriesRings } from './ring.ts';

/** Operations in one answer. */
const OPERATIONS_MAX = 12;
const SLOTS_KEPT = RESOLUTIONS.reduce((sum, { slots }) => sum + slots, 0);

export function rangeCounts(history: History, span: ShownTime, subject?: Subject): RangeCounts {
  const nowMs = history.advance();
  const { startedAtMs, newest, all, codes } = history.state();
  const wanted = slotsOf(span, nowMs);
  const { resolution, lastSlot } = wanted;
  const { slotMs } = RESOLUTIONS[resolution];
  const firstSlot = Math.max(wanted.firstSlot, Math.min(history.oldest(resolution), lastSlot));
  const yesterday = yesterdayOf(history, wanted);
  const edges = edgesOf(span, { ...wanted, firstSlot }, newest);
  const untilMs = Math.min(nowMs, edges.endMs);
  const shown = Array.from({ length: Math.max(0, lastSlot - firstSlot + 1) }, (_, index) => firstSlot + index);
  const sumOf = (series: SeriesRings, { resolution: of, firstSlot: first, lastSlot: last }: SlotSpan) =>
    history.sumIn(series, of, first, last);
  const countsOf = (name: string, series: SeriesRings): SeriesCounts => ({
    name,
    minute: history.lastSlots(series, MINUTE_SLOTS),
    slots: shown.map((slot) => sumOf(series, withinEdges(resolution, slot, edges))),
    before: yesterday === undefined ? null : history.sumIn(series, COARSEST, yesterday.first, yesterday.last),
  });
  /** Returns the seconds since a slot, or since the start if it was later. */
  const secondsSince = (slot: number, lengthMs: number, endMs: number) =>
    Math.max(1, (endMs - Math.max(startedAtMs, slot * lengthMs)) / 1000);
  const totalOf = (series: SeriesRings) => history.sumIn(series, resolution, firstSlot, lastSlot);
  const seen = [...codes].filter(([, series]) => (totalOf(series)[0] ?? 0) > 0);
  const subjectRings = subject && ringsOf(history, subject);
  return {
    range: span.range,
    slotMs,
    slots: lastSlot - wanted.firstSlot + 1,
    firstSlot,
    lastSlot,
    lastSlotSeconds: secondsSince(lastSlot, slotMs, untilMs),
    minuteSeconds: secondsSince(history.oldest(0, MINUTE_SLOTS), RESOLUTIONS[0].slotMs, nowMs),
    rangeSeconds: secondsSince(edges.beginMs / slotMs, slotMs, untilMs),
    beforeSeconds: yesterday?.seconds ?? 0,
    all: countsOf('all operations', all),
    operations: busiest(history, totalOf).map(({ name, series }) => countsOf(name, series)),
    codes: seen.map(([name, series]) => countsOf(name, series)),
    subject:
      subjectRings === undefined
        ? null
        : addCounts(subjectRings.map((series) => countsOf(subject?.name ?? '', series))),
    ...memoryOf(history),
  };
}

/** Returns the span a day earlier, in the coarsest slots; undefined if only a part of it was counted. */
function yesterdayOf(history: History, { resolution, firstSlot, lastSlot }: SlotSpan) {
  const { slotMs } = RESOLUTIONS[COARSEST];
  const [fromMs, toMs] = [firstSlot, lastSlot + 1].map((slot) => slot * RESOLUTIONS[resolution].slotMs);
  const first = Math.floor((fromMs as number) / slotMs) - YESTERDAY_SLOTS;
  const last = Math.max(first, Math.ceil((toMs as number) / slotMs) - 1 - YESTERDAY_SLOTS);
  return first < history.oldest(COARSEST) ? undefined : { first, last, seconds: ((last - first + 1) * slotMs) / 1000 };
}

/** Returns the operations with the most requests. */
function busiest(history: History, totalOf: (series: SeriesRings) => readonly number[]) {
  return [...history.state().operations]
    .map(([name, series]) => ({ name, series, requests: history.requestsIn(totalOf(series)) }))
    .filter(({ requests }) => requests > 0)
    .sort((one, other) => other.requests - one.requests || one.name.localeCompare(other.name))
    .slice(0, OPERATIONS_MAX);
}

/** Returns the series of a subject. A code may belong to several stages. */
function ringsOf(history: History, { kind, name }: Subject): SeriesRings[] | undefined {
  const state = history.state();
  if (kind !== 'codes') {
    const series = state[kind].get(name);
    return series && [series];
  }
  const found = [...state.codes].filter(([code]) => code.endsWith(` ${name}`)).map(([, series]) => series);
  return found.length === 0 ? undefined : found;
}

function memoryOf(history: History): Pick<RangeCounts, 'bytes' | 'bytesMax'> {
  const state = history.state();
  const width = state.all[0]?.width ?? 0;
  const bytesOf = (wide: number, codes: number) =>
    SLOTS_KEPT * Uint32Array.BYTES_PER_ELEMENT * ((wide + 1) * width + codes);
  const sumOf = (size: (kind: Kind) => number) => KINDS.reduce((total, kind) => total + size(kind), 0);
  return {
    bytes: bytesOf(
      sumOf((kind) => state[kind].size),
      state.codes.size,
    ),
    bytesMax: bytesOf(
      sumOf((kind) => TRACKED_MAX[kind]),
      CODES_MAX,
    ),
  };
}
