// Computes the periods of usage counts, which are hours, days and months in UTC. A span is a group of periods that are stored together.
// Pure.

import { DAY_MS, HOUR_MS } from '../shared/durations.ts';

export const PERIOD_UNITS = ['hour', 'day', 'month'] as const;
export type PeriodUnit = (typeof PERIOD_UNITS)[number];

type SpanUnit = 'day' | 'month' | 'year';

/** The span of an hour is its day, the span of a day its month, and the span of a month its year. */
const SPAN_UNITS = { hour: 'day', day: 'month', month: 'year' } as const satisfies Record<PeriodUnit, SpanUnit>;

/** How many characters of an ISO time name a span. */
const NAME_LENGTHS = { day: 10, month: 7, year: 4 } as const satisfies Record<SpanUnit, number>;

export interface PeriodSpan {
  readonly unit: PeriodUnit;
  /** `2026-11-26` for hours, `2026-11` for days, `2026` for months. */
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** Returns the span that includes this moment. */
export function spanAt(unit: PeriodUnit, atMs: number): PeriodSpan {
  const by = SPAN_UNITS[unit];
  const startMs = periodStart(by, atMs);
  const name = new Date(startMs).toISOString().slice(0, NAME_LENGTHS[by]);
  return { unit, name, startMs, endMs: periodEnd(by, atMs) };
}

/** Returns the number of a period in its span: the hour of the day, the day of the month, or the month of the year. */
export function placeInSpan(unit: PeriodUnit, atMs: number): number {
  const date = new Date(atMs);
  if (unit === 'hour') return date.getUTCHours();
  return unit === 'day' ? date.getUTCDate() : date.getUTCMonth() + 1;
}

/** Returns the beginning of a period from its number in the span. The reverse of `placeInSpan`. */
export function periodAtPlace({ unit, startMs }: PeriodSpan, place: number): number {
  if (unit === 'hour') return startMs + place * HOUR_MS;
  if (unit === 'day') return startMs + (place - 1) * DAY_MS;
  return Date.UTC(new Date(startMs).getUTCFullYear(), place - 1);
}

/** Returns the beginning of the period that is `count` periods before the period of this moment. */
export function periodsBefore(unit: PeriodUnit, atMs: number, count: number): number {
  const startMs = periodStart(unit, atMs);
  if (unit === 'hour') return startMs - count * HOUR_MS;
  if (unit === 'day') return startMs - count * DAY_MS;
  const date = new Date(startMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - count);
}

/** Returns the beginning of the period that includes this moment. Epoch milliseconds. */
export function periodStart(unit: PeriodUnit | SpanUnit, atMs: number): number {
  if (unit === 'hour') return Math.floor(atMs / HOUR_MS) * HOUR_MS;
  if (unit === 'day') return Math.floor(atMs / DAY_MS) * DAY_MS;
  const date = new Date(atMs);
  return Date.UTC(date.getUTCFullYear(), unit === 'month' ? date.getUTCMonth() : 0);
}

/** Returns the end of the period that includes this moment. Epoch milliseconds. */
export function periodEnd(unit: PeriodUnit | SpanUnit, atMs: number): number {
  const startMs = periodStart(unit, atMs);
  if (unit === 'hour') return startMs + HOUR_MS;
  if (unit === 'day') return startMs + DAY_MS;
  const date = new Date(startMs);
  const year = date.getUTCFullYear();
  return unit === 'month' ? Date.UTC(year, date.getUTCMonth() + 1) : Date.UTC(year + 1, 0);
}
