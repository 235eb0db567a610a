// Replaces JSON Schema keywords that Ajv checks in more than linear time, and skips pattern and format of texts that are too long
// anyway.

import { _, type Ajv2020, type KeywordCxt } from 'ajv/dist/2020.js';
import { formatCheck } from './formats.ts';
import { toPattern } from './patterns.ts';

/** Replaces the keywords in one Ajv. They report errors in the same form as Ajv's own. */
export function replaceKeywords(ajv: Ajv2020): void {
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

/** Skips the check for texts longer than maxLength, because these are already refused. */
function ifShortEnough({ data, parentSchema }: KeywordCxt) {
  const { maxLength } = parentSchema as { maxLength?: unknown };
  // maxLength counts characters, of up to two code units each; `length` counts code units.
  return typeof maxLength === 'number' ? _`${data}.length <= ${2 * maxLength} && ` : _``;
}

/** Returns whether no two items are equal, in time linear in their total size. */
export function areUnique(items: readonly unknown[]): boolean {
  const scalars = new Set<unknown>();
  const others = new Set<string>();
  for (const item of items) {
    if (typeof item === 'object' && item !== null) others.add(canonical(item));
    else scalars.add(item);
  }
  return scalars.size + others.size === items.length;
}

/** Returns the same text for equal values: members are sorted by name. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join()}}`;
}
