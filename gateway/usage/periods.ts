// Periods of use, in UTC: hours, days and months; and spans. A span is the periods of one kind that are stored together.

export const PERIOD_UNITS = ['hour', 'day', 'month'] as const;
export type PeriodUnit = (typeof PERIOD_UNITS)[number];

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

type SpanUnit = 'day' | 'month' | 'year';

/** The hours of a day are stored together, the days of a month, the months of a year. */
const spanUnits = { hour: 'day', day: 'month', month: 'year' } as const satisfies Record<PeriodUnit, SpanUnit>;

/** The part of an ISO time that names a span. */
const nameLengths = { day: 10, month: 7, year: 4 } as const satisfies Record<SpanUnit, number>;

/** Epoch milliseconds at which the period begins that has this moment. */
export function periodStart(unit: PeriodUnit, atMs: number): number {
  return startOf(unit, atMs);
}

/** Epoch milliseconds at which the period ends that has this moment. */
export function periodEnd(unit: PeriodUnit, atMs: number): number {
  return endOf(unit, atMs);
}

export interface PeriodSpan {
  readonly unit: PeriodUnit;
  /** `2026-11-26` for hours, `2026-11` for days, `2026` for months. */
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** The span of the period that has this moment. */
export function spanAt(unit: PeriodUnit, atMs: number): PeriodSpan {
  const by = spanUnits[unit];
  const startMs = startOf(by, atMs);
  const name = new Date(startMs).toISOString().slice(0, nameLengths[by]);
  return { unit, name, startMs, endMs: endOf(by, atMs) };
}

/** The place of a period in its span: hour of the day, day of the month, number of the month. */
export function placeInSpan(unit: PeriodUnit, atMs: number): number {
  const date = new Date(atMs);
  if (unit === 'hour') return date.getUTCHours();
  return unit === 'day' ? date.getUTCDate() : date.getUTCMonth() + 1;
}

/** The reverse of `placeInSpan`. */
export function periodAtPlace({ unit, startMs }: PeriodSpan, place: number): number {
  if (unit === 'hour') return startMs + place * HOUR_MS;
  if (unit === 'day') return startMs + (place - 1) * DAY_MS;
  return Date.UTC(new Date(startMs).getUTCFullYear(), place - 1);
}

/** Goes back by whole periods from the beginning of the one that has this moment. */
export function periodsBefore(unit: PeriodUnit, atMs: number, count: number): number {
  const startMs = startOf(unit, atMs);
  if (unit === 'hour') return startMs - count * HOUR_MS;
  if (unit === 'day') return startMs - count * DAY_MS;
  const date = new Date(startMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - count);
}

function startOf(unit: PeriodUnit | SpanUnit, atMs: number): number {
  if (unit === 'hour') return Math.floor(atMs / HOUR_MS) * HOUR_MS;
  if (unit === 'day') return Math.floor(atMs / DAY_MS) * DAY_MS;
  const date = new Date(atMs);
  return Date.UTC(date.getUTCFullYear(), unit === 'month' ? date.getUTCMonth() : 0);
}

function endOf(unit: PeriodUnit | SpanUnit, atMs: number): number {
  const startMs = startOf(unit, atMs);
  if (unit === 'hour') return startMs + HOUR_MS;
  if (unit === 'day') return startMs + DAY_MS;
  const date = new Date(startMs);
  const year = date.getUTCFullYear();
  return unit === 'month' ? Date.UTC(year, date.getUTCMonth() + 1) : Date.UTC(year + 1, 0);
}
