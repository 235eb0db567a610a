// Parses times, counts, lists and names in arguments of commands, and builds the message for an unknown name.

import { closest } from '../shared/mistakes.ts';
import { firstNames } from '../shared/text.ts';

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const SHOWN_MAX = 20;
const ISO_TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

/** Parses a duration such as `90s`, `15m`, `24h` or `30d` to milliseconds. Returns undefined for any other text. */
export function parseDurationMs(text: string): number | undefined {
  const [, number, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return number === undefined ? undefined : Number(number) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

/**
 * Parses a time to epoch milliseconds. The text is an ISO time, or a duration after (`direction` 1) or before (-1) `fromMs`. Returns
 * undefined for any other text.
 */
export function parseMoment(text: string, fromMs: number, direction: 1 | -1): number | undefined {
  const durationMs = parseDurationMs(text);
  if (durationMs !== undefined) return fromMs + direction * durationMs;
  const atMs = ISO_TIME.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
}

/** Parses a whole number from 1 to `max`, in plain digits. Returns undefined for any other text. */
export function parseCount(text: string, max: number): number | undefined {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  return count >= 1 && count <= max ? count : undefined;
}

/** Whether a text can be a display name: one line without control characters, of at most 200 characters. */
export function isName(text: string): boolean {
  return /^\P{Cc}{0,200}$/u.test(text);
}

/** Splits the values of a repeatable flag, of which each may be a list with commas. Removes duplicates. */
export function splitList(values: readonly string[]): string[] {
  return [...new Set(values.flatMap((value) => value.split(',')).map((value) => value.trim()))].filter(Boolean);
}

/** Returns a sentence with the known names and the most similar name. Scopes of the gateway itself come last. */
export function unknownName(kind: string, name: string, known: Iterable<string>): string {
  const isOwn = (one: string) => Number(one.startsWith('gateway:'));
  const names = [...known].sort().sort((one, other) => isOwn(one) - isOwn(other));
  if (names.length === 0) return `There is no ${kind} "${name}", nor any other.`;
  const likely = closest(name, names);
  const hint = likely === undefined ? '' : ` Did you mean "${likely}"?`;
  return `There is no ${kind} "${name}".${hint} Known: ${firstNames(names, SHOWN_MAX)}.`;
}
