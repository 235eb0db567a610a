// Generates sample values for a schema: its examples, and values at the bounds. Some may be invalid, because patterns are not
// evaluated, so the caller must validate them.

import { child, follow, isObject, type JsonObject, type Located } from './pointer.ts';

const DEPTH_MAX = 6;
const SAMPLES_MAX = 12;
/** Maximum length of generated texts. */
const LENGTH_MAX = 1000;

const byFormat: Readonly<Record<string, string>> = {
  'date-time': '2026-01-15T10:30:00Z',
  date: '2026-01-15',
  time: '10:30:00Z',
  duration: 'PT1H',
  email: 'someone@example.com',
  uuid: '8e03978e-40d5-43e8-bc93-6894a57f9324',
  uri: 'https://example.com/',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
};

/** Returns at most 12 distinct candidates, the plainest first. */
export function samplesOf(root: JsonObject, located: Located, depth = 0): unknown[] {
  const schema = merged(root, located, depth);
  const all = [...given(schema), ...branches(root, located, schema, depth), ...ofTypes(root, located, schema, depth)];
  const distinct = new Map(all.map((value) => [JSON.stringify(value), value]));
  return [...distinct.values()].slice(0, SAMPLES_MAX);
}

/** Merges a schema with the target of its reference and its `allOf` parts. */
function merged(root: JsonObject, located: Located, depth: number): JsonObject {
  const own = isObject(located.value) ? located.value : {};
  const target = follow(root, located);
  const base = isObject(target.value) ? { ...target.value, ...own } : own;
  if (!Array.isArray(base.allOf) || depth > DEPTH_MAX) return base;
  const place = Array.isArray(own.allOf) ? located : target;
  const parts = base.allOf.map((_, index) => merged(root, child(child(place, 'allOf'), index), depth + 1));
  const all = [...parts, base];
  return {
    ...Object.assign({}, ...all),
    properties: Object.assign({}, ...all.map(({ properties }) => properties)),
    required: all.flatMap(({ required }) => arrayOf(required) ?? []),
  };
}

function arrayOf(value: unknown): unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** Returns the values that the schema's author wrote down. */
function given({ const: only, enum: choices, example, examples, default: fallback }: JsonObject): unknown[] {
  const named = [only, example, ...(arrayOf(examples) ?? []), fallback].filter((value) => value !== undefined);
  return [...named, ...(arrayOf(choices) ?? []).slice(0, 5)];
}

function branches(root: JsonObject, located: Located, schema: JsonObject, depth: number): unknown[] {
  if (depth > DEPTH_MAX) return [];
  const place = follow(root, located);
  return ['oneOf', 'anyOf'].flatMap((keyword) =>
    (arrayOf(schema[keyword]) ?? []).flatMap((_, index) =>
      samplesOf(root, child(child(place, keyword), index), depth + 1).slice(0, 2),
    ),
  );
}

function ofTypes(root: JsonObject, located: Located, schema: JsonObject, depth: number): unknown[] {
  if (schema.const !== undefined || schema.enum !== undefined || depth > DEPTH_MAX) return [];
  const types: unknown[] = [schema.type ?? (schema.properties ? 'object' : [])].flat();
  return types.flatMap((type): unknown[] => {
    if (type === 'string') return texts(schema);
    if (type === 'integer' || type === 'number') return numbers(schema, type === 'integer' ? 1 : 0.5);
    if (type === 'boolean') return [true, false];
    if (type === 'null') return [null];
    if (type === 'array') return lists(root, located, schema, depth);
    return type === 'object' ? objects(root, schema, depth) : [];
  });
}

function texts({ format, minLength, maxLength }: JsonObject): string[] {
  const formatted = byFormat[String(format)];
  if (formatted !== undefined) return [formatted];
  const least = Number(minLength ?? 0);
  const most = Number(maxLength ?? LENGTH_MAX);
  const plain = 'example'.slice(0, most).padEnd(least, 'x');
  return [plain, 'x'.repeat(Math.max(least, 1)), 'x'.repeat(Math.min(most, LENGTH_MAX))];
}

function numbers(schema: JsonObject, step: number): number[] {
  const bound = (inclusive: string, exclusive: string, inward: number) => {
    if (typeof schema[exclusive] === 'number') return schema[exclusive] + inward;
    return typeof schema[inclusive] === 'number' ? schema[inclusive] : undefined;
  };
  const least = bound('minimum', 'exclusiveMinimum', step);
  const most = bound('maximum', 'exclusiveMaximum', -step);
  const plain = typeof schema.multipleOf === 'number' ? schema.multipleOf : 1;
  return [least !== undefined && least > plain ? least : Math.min(plain, most ?? plain), least, most].filter(
    (value) => value !== undefined,
  );
}

function lists(root: JsonObject, located: Located, schema: JsonObject, depth: number): unknown[][] {
  const place = isObject(located.value) && located.value.items !== undefined ? located : follow(root, located);
  const items = schema.items === undefined ? ['example'] : samplesOf(root, child(place, 'items'), depth + 1);
  const least = Number(schema.minItems ?? 0);
  const list = Array.from({ length: Math.min(Math.max(least, 1), LENGTH_MAX) }, (_, at) => items[at % items.length]);
  return items.length === 0 ? [[]] : [list, ...(least === 0 ? [[]] : [])];
}

function objects(root: JsonObject, schema: JsonObject, depth: number): JsonObject[] {
  const required = new Set(arrayOf(schema.required));
  const members = Object.entries(isObject(schema.properties) ? schema.properties : {}).flatMap(([name, value]) => {
    const located = { value, pointer: '' };
    if (merged(root, located, depth + 1).readOnly === true) return [];
    const samples = samplesOf(root, located, depth + 1);
    return samples.length === 0 ? [] : [{ name, samples, isRequired: required.has(name) }];
  });
  const firsts = (some: typeof members) => Object.fromEntries(some.map(({ name, samples }) => [name, samples[0]]));
  const least = firsts(members.filter(({ isRequired }) => isRequired));
  const borders = members.flatMap(({ name, samples }) =>
    samples.slice(1, 4).map((value) => ({ ...least, [name]: value })),
  );
  return [least, firsts(members), ...borders];
}
