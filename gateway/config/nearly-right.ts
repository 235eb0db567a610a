// Finds what the author of a refused value meant, such as "5s" as a number of milliseconds, or /ping instead of { path: /ping }.

import { z } from 'zod';
import { MINUTE_MS } from '../shared/durations.ts';
import { closest } from '../shared/mistakes.ts';
import { keysAt, schemasAt } from './schema-places.ts';

type Path = readonly (string | number)[];

/** An empty value does not show what was meant, and a long value is not shown whole. */
const fits = (text: string) => text !== '' && text.length <= 60;

/**
 * Returns a question with the form that was probably meant; undefined if no similar form is accepted here.
 *
 * @param rule what a value must be here; for a number, the rule names its unit
 */
export function meantInstead(schema: z.ZodType, path: Path, input: unknown, rule: string): string | undefined {
  if (typeof input === 'string' && /^-\S/.test(input) && rule.startsWith('must be a list'))
    return `The dash needs a space after it: - ${input.slice(1)}.`;
  const [, variable] = /^\$\{?(\w+)(?::?-.*\}|)$/.exec(String(input)) ?? [];
  if (variable !== undefined) return `Write a variable as \${${variable}}, without a default, and set it.`;
  const rate = rateMeant(input);
  if (rate !== undefined && rule.includes(' requests from '))
    return `Write requests: ${rate.requests}, windowSeconds: ${rate.windowSeconds}.`;
  if (!['string', 'number', 'boolean'].includes(typeof input) || !fits(String(input))) return undefined;
  const schemas = schemasAt(schema, path);
  const accepts = (candidate: unknown) =>
    candidate !== input && schemas.some((one) => z.safeParse(one, candidate).success);
  const texts = typeof input === 'string' ? textsNear(input, rule) : [];
  const blocks = keysAt(schema, path).map((key) => ({ [key]: input }));
  const meant = [...scalarsNear(String(input), rule), ...texts, [input], ...blocks, rate].find(accepts);
  const written = meant === undefined ? undefined : writtenForm(meant);
  const isSaid = rule.endsWith(`such as ${meant}`);
  return written === undefined || isSaid ? undefined : `Did you mean ${written}?`;
}

/** Returns the limit that a rate such as 100/min stands for. */
function rateMeant(input: unknown): { requests: number; windowSeconds: number } | undefined {
  const [, digits = '', , count = '1', suffix = ''] =
    /^(\d[\d_,]*) *(r(?:eq(?:uests)?)?)? *(?:\/|per) *(\d*) *([a-z]+)$/i.exec(String(input).trim()) ?? [];
  const unit = UNITS.find((one) => one.of === 'time' && one.suffix.test(suffix));
  if (unit === undefined || digits === '') return undefined;
  return { requests: Number(digits.replaceAll(/[_,]/g, '')), windowSeconds: (Number(count || 1) * unit.size) / 1000 };
}

function scalarsNear(text: string, rule: string): (number | boolean)[] {
  if (/^(true|yes|on)$/i.test(text)) return [true];
  if (/^(false|no|off)$/i.test(text)) return [false];
  const [, unit = ''] = /^must be a whole number of ([a-z]+) from /.exec(rule) ?? [];
  const [, digits, suffix = ''] = /^(\d[\d_,]*(?:\.\d+)?) ?([a-z]*)$/i.exec(text.trim()) ?? [];
  if (digits === undefined) return [];
  const number = Number(digits.replaceAll(/[_,]/g, ''));
  if (suffix === '') return [number];
  const [from, to] = [UNITS.find((one) => one.suffix.test(suffix)), UNITS.find(({ name }) => name === unit)];
  return from && to && from.of === to.of ? [(number * from.size) / to.size] : [];
}

const KIBIBYTE = 1024;

/** Units of time in milliseconds and units of size in bytes, with their names in rules, and their spellings behind a number. */
const UNITS: readonly {
  readonly of: 'time' | 'size';
  readonly name?: string;
  readonly suffix: RegExp;
  readonly size: number;
}[] = [
  { of: 'time', name: 'milliseconds', suffix: /^(ms|millis(econds?)?|milliseconds?)$/i, size: 1 },
  { of: 'time', name: 'seconds', suffix: /^s(ec(onds?)?)?$/i, size: 1000 },
  { of: 'time', name: 'minutes', suffix: /^m(in(utes?)?)?$/i, size: MINUTE_MS },
  { of: 'time', suffix: /^h(ours?)?$/i, size: 60 * MINUTE_MS },
  { of: 'time', name: 'days', suffix: /^d(ays?)?$/i, size: 24 * 60 * MINUTE_MS },
  { of: 'size', name: 'bytes', suffix: /^b(ytes?)?$/i, size: 1 },
  { of: 'size', suffix: /^ki?b?$/i, size: KIBIBYTE },
  { of: 'size', suffix: /^mi?b?$/i, size: KIBIBYTE ** 2 },
  { of: 'size', suffix: /^gi?b?$/i, size: KIBIBYTE ** 3 },
];

/** Yields texts that differ in a point of the rule: a slash, an address of a server, or a letter of a word that the rule lists. */
function textsNear(text: string, rule: string): string[] {
  const path = `/${text.replace(/^https?:\/\/[^/]*/i, '').replaceAll(/^\/+|\/+$/g, '')}`;
  const [, scheme = '', rest = text] = /^([a-z]*):?\/+(.*)$/i.exec(text) ?? [];
  const isOrigin = /address without a path|origin/.test(rule);
  const isLocal = /^(localhost|[\d.]+|\[[\d:a-f]*\])(:|\/|$)/i.test(rest);
  const isSecure = /s$/i.test(scheme) || (scheme === '' && !isLocal && isOrigin);
  const address = `${isSecure ? 'https' : 'http'}://${rest}`;
  const words = rule.split(/[\s,]+/).filter((word) => /^[a-z]+:[a-z]*$/.test(word));
  return [
    text.replaceAll(/[“”‘’]/g, ''),
    closest(text, words) ?? [],
    rule.includes('slash') ? path : [],
    /https?:\/\//.test(rule) && !/^(no|yes|none|null)$/i.test(text)
      ? [address, address.replace(/\/?[?#*].*$/, ''), isOrigin ? (URL.parse(address)?.origin ?? []) : []].flat()
      : [],
  ].flat();
}

function writtenForm(meant: unknown): string {
  if (Array.isArray(meant)) return `[${meant.join(', ')}]`;
  if (typeof meant !== 'object' || meant === null) return typeof meant === 'string' ? `"${meant}"` : String(meant);
  return `{ ${Object.entries(meant)
    .map(([key, value]) => `${key}: ${value}`)
    .join(', ')} }`;
}
