// Replaces JSON Schema keywords that Ajv checks in more than linear time, or whose steps are counted. Skips pattern and format of texts
// that are too long anyway.

import { _, type Ajv2020, type KeywordCxt, Name } from 'ajv/dist/2020.js';
import { or } from 'ajv/dist/compile/codegen/index.js';
import { isContainer } from '../json.ts';
import { BOUND_KEYWORDS, isExact, multipleOf } from '../scalars/exact-numbers.ts';
import { formatCheck } from '../scalars/formats.ts';
import { toPattern } from '../scalars/patterns.ts';
import { takeSteps } from './check-scope.ts';

/** Up to this many values are compared one by one in the generated code. */
const COMPARED_MAX = 16;

/** Replaces the keywords in one Ajv. They report errors in the same form as Ajv's own. */
export function replaceKeywords(ajv: Ajv2020): void {
  replaceLimits(ajv);
  replaceValues(ajv);
  for (const keyword of ['uniqueItems', 'pattern', 'format']) ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must NOT have duplicate items' },
    code(cxt: KeywordCxt) {
      if (cxt.schema !== true) return;
      const check = cxt.gen.scopeValue('func', { ref: areUnique });
      cxt.fail(_`!${check}(${cxt.data})`);
    },
  });
  ajv.addKeyword({
    keyword: 'pattern',
    type: 'string',
    schemaType: 'string',
    error: { message: 'must match the pattern', params: ({ schemaCode }) => _`{pattern: ${schemaCode}}` },
    code(cxt: KeywordCxt) {
      const pattern = toPattern(cxt.schema as string);
      // Ajv keeps one value per key.
      const check = cxt.gen.scopeValue('pattern', { key: pattern.toString(), ref: pattern });
      cxt.fail(_`${ifShortEnough(cxt)}!${check}.test(${cxt.data})`);
    },
  });
  ajv.addKeyword({
    keyword: 'format',
    type: ['number', 'string'],
    schemaType: 'string',
    error: { message: 'must match the format', params: ({ schemaCode }) => _`{format: ${schemaCode}}` },
    code(cxt: KeywordCxt, type?: string) {
      const format = formatCheck(cxt.schema as string, type === 'number' ? 'number' : 'string');
      if (format === undefined) return;
      const check = cxt.gen.scopeValue('formats', { key: `${type} ${cxt.schema}`, ref: format });
      cxt.fail(_`${ifShortEnough(cxt)}!${check}(${cxt.data})`);
    },
  });
}

/** Replaces limits. Ajv computes with doubles, and counts the characters of every text, even of a very long one. */
function replaceLimits(ajv: Ajv2020): void {
  const ofTexts = Object.entries({ minLength: isLongEnough, maxLength: isShortEnough });
  const ofNumbers = Object.entries(BOUND_KEYWORDS);
  for (const [keyword, isWithin] of [...ofTexts, ...ofNumbers]) {
    const isOfTexts = keyword.endsWith('Length');
    const message = isOfTexts ? 'must have another length' : 'must be within the bound';
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      type: isOfTexts ? 'string' : 'number',
      schemaType: 'number',
      error: { message, params: ({ schemaCode }) => _`{limit: ${schemaCode}}` },
      code(cxt: KeywordCxt) {
        cxt.pass(_`${cxt.gen.scopeValue('func', { ref: isWithin })}(${cxt.data}, ${cxt.schemaCode})`);
      },
    });
  }
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    error: { message: 'must be a multiple', params: ({ schemaCode }) => _`{multipleOf: ${schemaCode}}` },
    code(cxt: KeywordCxt) {
      cxt.pass(_`${cxt.gen.scopeValue('func', { ref: multipleOf(cxt.schema as number) })}(${cxt.data})`);
    },
  });
}

/** Replaces `enum` and `const`. Ajv compares with each value in turn, and lists the members of an object each time. */
function replaceValues(ajv: Ajv2020): void {
  for (const [keyword, param] of [
    ['enum', 'allowedValues'],
    ['const', 'allowedValue'],
  ] as const) {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      error: {
        message: 'must be an allowed value',
        params: ({ schemaCode }) => _`{${new Name(param)}: ${schemaCode}}`,
      },
      code(cxt: KeywordCxt) {
        const allowed: unknown[] = keyword === 'enum' ? (cxt.schema as unknown[]) : [cxt.schema];
        if (
          allowed.length <= COMPARED_MAX &&
          allowed.every((value) => !isContainer(value) && typeof value !== 'number')
        ) {
          cxt.pass(or(...allowed.map((value) => _`${cxt.data} === ${value as string}`)));
          return;
        }
        const check = cxt.gen.scopeValue('func', { ref: membership(allowed) });
        cxt.pass(_`${check}(${cxt.data})`);
      },
    });
  }
}

/** Returns the check whether a value is in a list. */
function membership(allowed: readonly unknown[]): (value: unknown) => boolean {
  const scalars = new Set(allowed.filter((value) => !isContainer(value)));
  const others = new Set(allowed.filter(isContainer).map(canonical));
  const isScalar = (value: unknown) => scalars.has(value) && (typeof value !== 'number' || isExact(value));
  if (others.size === 0) return isScalar;
  return (value) => (isContainer(value) ? others.has(canonical(value)) : isScalar(value));
}

/** Whether a text has at most `limit` characters. A character has one or two code units, so most texts need no counting. */
function isShortEnough(text: string, limit: number): boolean {
  return text.length <= limit || (text.length <= 2 * limit && charactersIn(text) <= limit);
}

function isLongEnough(text: string, limit: number): boolean {
  return text.length >= limit && (text.length >= 2 * limit || charactersIn(text) >= limit);
}

function charactersIn(text: string): number {
  takeSteps(text.length / 2);
  let count = text.length;
  for (let at = 1; at < text.length; at += 1) if (isLow(text, at) && isHigh(text, at - 1)) count -= 1;
  return count;
}

function isHigh(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xd800 && code <= 0xdbff;
}

function isLow(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}

/** Skips the check for texts longer than maxLength, because these are already refused. */
function ifShortEnough({ data, parentSchema }: KeywordCxt) {
  const { maxLength } = parentSchema as { maxLength?: unknown };
  // maxLength counts characters, of up to two code units each; `length` counts code units.
  return typeof maxLength === 'number' ? _`${data}.length <= ${2 * maxLength} && ` : _``;
}

/** Whether no two items are equal, in time linear in their total size. */
export function areUnique(items: readonly unknown[]): boolean {
  takeSteps(4 * items.length);
  const scalars = new Set<unknown>();
  const others = new Set<string>();
  for (const item of items) {
    if (isContainer(item)) others.add(canonical(item));
    else scalars.add(item);
  }
  return scalars.size + others.size === items.length;
}

/** Returns the same text for equal values, because members are sorted by name. */
function canonical(value: unknown): string {
  if (typeof value === 'string') takeSteps(20 + value.length);
  else takeSteps(20);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value === 'number') return String(value);
  if (!isContainer(value)) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  takeSteps(40 * members.length);
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join()}}`;
}
