// Sample texts and numbers that fit the keywords of a flat schema.

import { jsonTypesOf } from '../parameters/value-types.ts';
import { decimalOf } from '../scalars/decimal.ts';
import { multipleOf } from '../scalars/exact-numbers.ts';
import { formatCheck } from '../scalars/formats.ts';
import { toPattern } from '../scalars/patterns.ts';
import type { FlatSchema } from './flat-schema.ts';
import { textsFor } from './pattern-text.ts';

/** Maximum length of generated texts. */
const LENGTH_MAX = 1000;
const OF_PATTERN_MAX = 3;

const SAMPLE_BY_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2026-01-15T10:30:00Z',
  'iso-date-time': '2026-01-15T10:30:00Z',
  date: '2026-01-15',
  time: '10:30:00Z',
  'iso-time': '10:30:00Z',
  duration: 'PT1H',
  email: 'someone@example.com',
  'idn-email': 'someone@example.com',
  uuid: '8e03978e-40d5-43e8-bc93-6894a57f9324',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  iri: 'https://example.com/',
  'uri-reference': '/example',
  'iri-reference': '/example',
  'uri-template': '/examples/{id}',
  hostname: 'example.com',
  'idn-hostname': 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  regex: '^example$',
  'json-pointer': '/example',
  'json-pointer-uri-fragment': '#/example',
  'relative-json-pointer': '0/example',
  byte: 'ZXhhbXBsZQ==',
};

/** Returns texts for `format`, `pattern` and the bounds of the length, the plainest first; empty if no text was found. */
export function textsFitting(flat: FlatSchema): string[] {
  const { keywords, patterns } = flat;
  const fits = (text: string) => fitsScalar(flat, text);
  const formatted = SAMPLE_BY_FORMAT[String(keywords.format)];
  const least = Number(keywords.minLength ?? 0);
  const most = Number(keywords.maxLength ?? LENGTH_MAX);
  if (formatted !== undefined && patterns.length === 0) {
    const padded = [
      formatted,
      formatted.replace('example', 'example'.padEnd(least, 'x')),
      formatted.padEnd(least, 'x'),
    ];
    return [...new Set(padded)].filter(fits);
  }
  const plain = 'example'.slice(0, most).padEnd(least, 'x');
  const all = [formatted ?? plain, plain, 'x'.repeat(Math.max(least, 1)), 'x'.repeat(Math.min(most, LENGTH_MAX))];
  const [pattern] = patterns;
  if (pattern === undefined) return all.filter(fits);
  const found = new Set(all.slice(0, 2).filter(fits));
  for (const text of textsFor(pattern, least)) {
    if (found.size >= OF_PATTERN_MAX) break;
    if (fits(text)) found.add(text);
  }
  return [...found];
}

/** Returns numbers at and between the bounds. */
export function numbersFor(flat: FlatSchema, type: 'integer' | 'number'): number[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf: divisor } = flat.keywords;
  const step = type === 'integer' ? 1 : 0.5;
  const numbers = (...values: unknown[]) => values.filter((value) => typeof value === 'number');
  const least = Math.max(...numbers(minimum), ...numbers(exclusiveMinimum).map((bound) => bound + step));
  const most = Math.min(...numbers(maximum), ...numbers(exclusiveMaximum).map((bound) => bound - step));
  const between =
    (Math.max(...numbers(minimum, exclusiveMinimum)) + Math.min(...numbers(maximum, exclusiveMaximum))) / 2;
  const unit = typeof divisor === 'number' ? divisor : 1;
  const plain = Math.min(Math.max(unit, least), Math.max(most, least));
  // 326 * 0.01 is 3.2600000000000002.
  const places = Math.min(100, Math.max(0, -decimalOf(unit).exponent));
  const aligned = [Math.ceil(least / unit), Math.floor(most / unit)].map((times) =>
    Number((times * unit).toFixed(places)),
  );
  const all = [plain, least, most, ...(typeof divisor === 'number' ? [...aligned, 0] : [])];
  const fitting = [...new Set(all)].filter((value) => Number.isFinite(value) && fitsScalar(flat, value));
  return fitting.length > 0 ? fitting : [between].filter((value) => fitsScalar(flat, value));
}

/**
 * Whether a text, number, boolean or null fits the keywords about it. Returns true for objects and arrays, which are checked as a whole.
 */
export function fitsScalar({ keywords, patterns }: FlatSchema, value: unknown): boolean {
  const { type, format } = keywords;
  const types: unknown[] = jsonTypesOf(value);
  if (type !== undefined && ![type].flat().some((name) => types.includes(name))) return false;
  if (Array.isArray(keywords.enum) && !keywords.enum.some((one) => JSON.stringify(one) === JSON.stringify(value)))
    return false;
  if (keywords.const !== undefined && JSON.stringify(keywords.const) !== JSON.stringify(value)) return false;
  if (typeof value === 'number') return fitsNumber(keywords, value) && fitsFormat(format, value);
  if (typeof value !== 'string') return true;
  const { length } = [...value];
  if (length < Number(keywords.minLength ?? 0) || length > Number(keywords.maxLength ?? length)) return false;
  return fitsFormat(format, value) && patterns.every((pattern) => matches(pattern, value));
}

function fitsNumber(keywords: Readonly<Record<string, unknown>>, value: number): boolean {
  const holds = (name: string, test: (bound: number) => boolean) =>
    typeof keywords[name] !== 'number' || test(keywords[name] as number);
  return (
    holds('minimum', (bound) => value >= bound) &&
    holds('maximum', (bound) => value <= bound) &&
    holds('exclusiveMinimum', (bound) => value > bound) &&
    holds('exclusiveMaximum', (bound) => value < bound) &&
    holds('multipleOf', (unit) => multipleOf(unit)(value))
  );
}

function fitsFormat(format: unknown, value: string | number): boolean {
  const check = typeof format === 'string' ? formatCheck(format, typeof value as 'string' | 'number') : undefined;
  return check?.(value as never) ?? true;
}

function matches(pattern: string, text: string): boolean {
  try {
    return toPattern(pattern).test(text);
  } catch {
    return false;
  }
}
