// Finds keywords of a schema, and of the parts of its `allOf`, that no value meets together. It reads keywords of single values only, and
// says nothing of a schema for which these do not decide. Pure.

import { follow, isRecord, type JsonObject } from '../pointer.ts';
import { decimalOf, isMultiple } from '../scalars/decimal.ts';
import { lengthsOfPattern } from '../scalars/pattern-lengths.ts';
import { toPattern } from '../scalars/patterns.ts';

/** A contradiction: the keyword at which it is shown, and an item of its list. */
export interface Contradiction {
  readonly at: readonly (string | number)[];
  readonly reason: string;
  readonly remedy: string;
}

const PARTS_MAX = 64;

/** Returns at most one contradiction. One inside a part of `allOf` is left to that part. */
export function unmetKeywords(root: JsonObject, schema: JsonObject): Contradiction[] {
  const [, ...below] = mergedParts(root, schema);
  if (below.some((part) => contradictionIn(root, part) !== undefined)) return [];
  const found = contradictionIn(root, schema);
  return found === undefined ? [] : [found];
}

function contradictionIn(root: JsonObject, schema: JsonObject): Contradiction | undefined {
  const isMerged = Array.isArray(schema.allOf);
  const parts = mergedParts(root, schema);
  return (
    (isMerged ? unmetTypes(parts) : undefined) ??
    unmetValues(parts, isMerged) ??
    unmetNumbers(parts, isMerged) ??
    unmetLengths(parts, isMerged)
  );
}

function directParts(root: JsonObject, schema: JsonObject): JsonObject[] {
  const below: unknown[] = Array.isArray(schema.allOf) ? schema.allOf : [];
  return below.map((part) => follow(root, { value: part, pointer: '' }).value).filter(isRecord);
}

/** Returns the schema and the parts of its `allOf`, with references followed. */
export function mergedParts(root: JsonObject, schema: JsonObject): JsonObject[] {
  const parts = new Set([schema]);
  for (const part of parts) {
    if (parts.size > PARTS_MAX) break;
    for (const below of directParts(root, part)) parts.add(below);
  }
  return [...parts];
}

const TYPES = ['null', 'boolean', 'string', 'integer', 'number', 'array', 'object'];

function typesOf({ type }: JsonObject): string[] {
  const types = [type ?? TYPES].flat().map(String);
  return types.includes('number') ? [...types, 'integer'] : types;
}

/** Returns the types that all parts admit. */
function commonTypes(parts: readonly JsonObject[]): string[] {
  return TYPES.filter((type) => parts.every((part) => typesOf(part).includes(type)));
}

function unmetTypes(parts: readonly JsonObject[]): Contradiction | undefined {
  if (commonTypes(parts).length > 0) return undefined;
  const written = [...new Set(parts.flatMap(({ type }) => (type === undefined ? [] : [[type].flat().join(' or ')])))];
  const reason = `the parts of allOf have the types ${written.join(' and ')}, so no value is valid.`;
  return { at: ['allOf'], reason, remedy: 'Give them one type, or write anyOf.' };
}

/** Returns the contradiction of listed values of which none is valid. */
function unmetValues(parts: readonly JsonObject[], isMerged: boolean): Contradiction | undefined {
  const lists = parts.flatMap(listsOf);
  const [first] = lists;
  if (first === undefined || first.values.length === 0) return undefined;
  const types = commonTypes(parts);
  const failing = first.values.map((value) => {
    const isListed = lists.every(({ values }) => values.some((one) => isSame(one, value)));
    if (!isListed) return lists.find(({ values }) => !values.some((one) => isSame(one, value)))?.keyword;
    // A value of another type is a finding of its own.
    if (!types.some((type) => isOfType(value, type))) return 'type';
    return parts.flatMap((part) => failedKeyword(part, value) ?? [])[0];
  });
  if (failing.some((keyword) => keyword === undefined) || (!isMerged && failing.includes('type'))) return undefined;
  const keyword = String(failing[0]);
  const isList = keyword === 'enum' || keyword === 'const';
  const what = isList && isMerged ? 'no value is in all their lists' : `no value of ${first.keyword} fits ${keyword}`;
  const reason = `${isMerged ? 'of the parts of allOf, ' : ''}${what}, so no value is valid.`;
  const remedy = keyword === first.keyword ? `Correct ${keyword}.` : `Correct ${first.keyword} or ${keyword}.`;
  return { at: [isMerged ? 'allOf' : first.keyword], reason, remedy };
}

/** Returns `const` and `enum` as lists. */
function listsOf(schema: JsonObject): { keyword: string; values: unknown[] }[] {
  return [
    ...('const' in schema ? [{ keyword: 'const', values: [schema.const] }] : []),
    ...(Array.isArray(schema.enum) ? [{ keyword: 'enum', values: schema.enum }] : []),
  ];
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Whether a value is of a type of JSON Schema. */
export function isOfType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isRecord(value);
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}

type Test = (value: never, bound: never) => boolean;
/** Whether a text or a number meets a keyword. */
const TESTS: Readonly<Record<'string' | 'number', Readonly<Record<string, Test>>>> = {
  string: {
    minLength: (text: string, least: number) => [...text].length >= least,
    maxLength: (text: string, most: number) => [...text].length <= most,
    pattern: (text: string, pattern: string) => fits(pattern, text),
  },
  number: {
    minimum: (value: number, least: number) => value >= least,
    maximum: (value: number, most: number) => value <= most,
    exclusiveMinimum: (value: number, least: number) => value > least,
    exclusiveMaximum: (value: number, most: number) => value < most,
    multipleOf: (value: number, factor: number) => factor <= 0 || isMultiple(decimalOf(value), decimalOf(factor)),
  },
};

/** Returns the first keyword that a value does not meet. */
function failedKeyword(schema: JsonObject, value: unknown): string | undefined {
  const kind = typeof value;
  if (kind !== 'string' && kind !== 'number') return undefined;
  return Object.entries(TESTS[kind]).find(([keyword, isMet]) => {
    const bound = schema[keyword];
    if (typeof bound !== (keyword === 'pattern' ? 'string' : 'number')) return false;
    return !isMet(value as never, bound as never);
  })?.[0];
}

function fits(pattern: string, text: string): boolean {
  try {
    return toPattern(pattern).test(text);
  } catch {
    // A rule of the linter reports the pattern.
    return true;
  }
}

/** A bound, and the keyword that sets it. */
interface Bound {
  readonly keyword: string;
  readonly value: number;
}

/** Returns the strictest bound of some keywords. */
function strictest(parts: readonly JsonObject[], keywords: readonly string[], isLower: boolean): Bound | undefined {
  const bounds = parts.flatMap((part) =>
    keywords.flatMap((keyword): Bound[] => {
      const value = part[keyword];
      return typeof value === 'number' ? [{ keyword, value }] : [];
    }),
  );
  return bounds.sort((one, other) => (isLower ? other.value - one.value : one.value - other.value))[0];
}

/** Returns the contradiction of the bounds of a number. Bounds that cross in a schema itself are a finding of their own. */
function unmetNumbers(parts: readonly JsonObject[], isMerged: boolean): Contradiction | undefined {
  if (!commonTypes(parts).every((type) => type === 'integer' || type === 'number')) return undefined;
  const low = strictest(parts, ['minimum', 'exclusiveMinimum'], true);
  const high = strictest(parts, ['maximum', 'exclusiveMaximum'], false);
  if (low === undefined || high === undefined) return undefined;
  const crossed = low.value > high.value;
  if (crossed) return isMerged ? crossedIn(low, high) : undefined;
  const factors = parts.flatMap(({ multipleOf }) => (typeof multipleOf === 'number' ? [multipleOf] : []));
  const step = factors[0] ?? (commonTypes(parts).includes('number') ? undefined : 1);
  if (step === undefined || step <= 0) return undefined;
  const isMet = (value: number) =>
    parts.every((part) => failedKeyword({ ...part, multipleOf: 0 }, value) === undefined);
  const first = Math.ceil(low.value / step);
  // The second candidate is for an exclusive bound, and the others for what the division has rounded.
  const candidates = [-1, 0, 1, 2].map((more) => (first + more) * step);
  const ends = [low.value, high.value].filter((value) => isMultiple(decimalOf(value), decimalOf(step)));
  const isPossible = [...candidates, ...ends].some(isMet);
  if (isPossible || (factors.length === 0 && !isMerged && low.value === high.value)) return undefined;
  const what = factors.length === 0 ? 'no integer is' : `no multiple of ${step} is`;
  const reason = `${what} between ${low.keyword} ${low.value} and ${high.keyword} ${high.value}, so no value is valid.`;
  const keyword = factors.length === 0 ? low.keyword : 'multipleOf';
  return { at: [isMerged ? 'allOf' : keyword], reason, remedy: `Correct ${keyword} or the bounds.` };
}

function crossedIn(low: Bound, high: Bound): Contradiction {
  const reason = `${low.keyword} ${low.value} in one part is above ${high.keyword} ${high.value} in another, so no value is valid.`;
  return { at: ['allOf'], reason, remedy: `Correct ${low.keyword} or ${high.keyword}.` };
}

/** Returns the contradiction of the bounds of a text, of which a pattern may be one. */
function unmetLengths(parts: readonly JsonObject[], isMerged: boolean): Contradiction | undefined {
  if (!commonTypes(parts).every((type) => type === 'string')) return undefined;
  const low = strictest(parts, ['minLength'], true);
  const high = strictest(parts, ['maxLength'], false);
  if (isMerged && low && high && low.value > high.value) return crossedIn(low, high);
  for (const { pattern } of parts) {
    const lengths = typeof pattern === 'string' ? lengthsOfPattern(pattern) : undefined;
    if (lengths === undefined) continue;
    const at = [isMerged ? 'allOf' : 'pattern'];
    const { min, max } = lengths;
    const isShort = high !== undefined && min > high.value;
    const bound = isShort ? high : low;
    if (bound === undefined || (!isShort && max >= bound.value)) continue;
    const size = isShort ? `at least ${min}` : `at most ${max}`;
    const characters = (isShort ? min : max) === 1 ? 'character' : 'characters';
    const reason = `a text that fits pattern has ${size} ${characters}, and ${bound.keyword} is ${bound.value}, so no value is valid.`;
    return { at, reason, remedy: `Correct pattern or ${bound.keyword}.` };
  }
  return undefined;
}
