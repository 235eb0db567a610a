// Generates sample values for a schema: its examples, and values at the bounds. Scalars fit their keywords. Objects and arrays may be
// invalid where keywords depend on each other, so the caller must validate them.

import { follow, isRecord, type JsonObject, type LocatedValue } from '../pointer.ts';
import { type FlatSchema, flatSchemasOf } from './flat-schema.ts';
import { fitsScalar, numbersFor, textsFitting } from './sample-scalars.ts';

interface SampleOptions {
  /**
   * A request leaves out read-only members and begins with the fewest members. An answer leaves out write-only members and begins with the
   * most.
   */
  readonly of?: 'request' | 'answer';
  /** False if examples and defaults are not used, because they did not fit. */
  readonly withExamples?: boolean;
}

const DEPTH_MAX = 8;
/** Deeper members are left out unless they are required. */
const OPTIONAL_DEPTH_MAX = 4;
const SAMPLES_MAX = 12;
const ITEMS_MAX = 1000;
/** Maximum number of samples of one branch of a union. */
const OF_BRANCH_MAX = 3;

/** Returns at most 12 distinct candidates, the most suitable first. */
export function samplesOf(root: JsonObject, { value }: LocatedValue, options: SampleOptions = {}): unknown[] {
  return createSampler(root, options)(value, 0);
}

type Sampler = (schema: unknown, depth: number) => unknown[];

/** Creates the sampler. It samples each schema once per depth, because the samples of schemas that refer to each other would multiply. */
function createSampler(root: JsonObject, { of = 'request', withExamples = true }: SampleOptions): Sampler {
  const known = new Map<unknown, unknown[][]>();
  const isHidden = (schema: unknown) =>
    flatSchemasOf(root, schema)[0]?.keywords[of === 'request' ? 'readOnly' : 'writeOnly'] === true;
  const fits = (schema: unknown, value: unknown) => flatSchemasOf(root, schema).some((one) => fitsScalar(one, value));
  const objectsFor = createObjects({ sample, isHidden, of });

  function sample(schema: unknown, depth: number): unknown[] {
    if (depth > DEPTH_MAX) return [];
    const before = known.get(schema)?.[depth];
    if (before !== undefined) return before;
    const flat = flatSchemasOf(root, schema);
    const each = flat.map((one) => [
      ...givenValues(one.keywords, withExamples).filter((value) => fitsScalar(one, value)),
      ...ofTypes(one, depth),
    ]);
    const written = withExamples && flat.length > 0 ? givenValues(writtenAt(root, schema), true) : [];
    const made = each.flatMap((samples) => (each.length > 1 ? samples.slice(0, OF_BRANCH_MAX) : samples));
    const fitting = written.filter((value) => flat.some((one) => fitsScalar(one, value)));
    const all = new Map([...fitting, ...made].map((value) => [JSON.stringify(value), value]));
    const samples = [...all.values()].slice(0, SAMPLES_MAX);
    const byDepth = known.get(schema) ?? [];
    byDepth[depth] = samples;
    known.set(schema, byDepth);
    return samples;
  }

  function ofTypes(flat: FlatSchema, depth: number): unknown[] {
    const { keywords } = flat;
    if (keywords.const !== undefined || keywords.enum !== undefined) return [];
    return typesOf(flat).flatMap((type): unknown[] => {
      if (type === 'string') return textsFitting(flat);
      if (type === 'integer' || type === 'number') return numbersFor(flat, type);
      if (type === 'boolean') return [true, false];
      if (type === 'null') return [null];
      if (type === 'array') return arraysFor(keywords, depth, { sample, fits });
      return type === 'object' ? objectsFor(keywords, depth) : [];
    });
  }

  return sample;
}

/** Returns the examples at the schema itself or at its target, which are examples of the whole schema, whatever it is combined from. */
function writtenAt(root: JsonObject, schema: unknown): JsonObject {
  const target = follow(root, { value: schema, pointer: '' }).value;
  return { ...(isRecord(target) ? target : {}), ...(isRecord(schema) ? schema : {}) };
}

/** Returns the values that the schema's author wrote down. */
function givenValues(
  { const: only, enum: choices, example, examples, default: fallback }: JsonObject,
  withExamples: boolean,
) {
  const written = withExamples ? [example, ...listAt(examples), fallback] : [];
  return [only, ...written, ...listAt(choices).slice(0, 5)].filter((value) => value !== undefined);
}

const TYPE_BY_KEYWORD: Readonly<Record<string, string>> = {
  properties: 'object',
  required: 'object',
  additionalProperties: 'object',
  patternProperties: 'object',
  minProperties: 'object',
  items: 'array',
  prefixItems: 'array',
  minItems: 'array',
  maxItems: 'array',
  minimum: 'number',
  maximum: 'number',
  multipleOf: 'number',
};

/** Returns the types. Without `type`, returns the type to which the keywords apply. */
function typesOf({ keywords, patterns }: FlatSchema): unknown[] {
  if (keywords.type !== undefined) return [keywords.type].flat();
  const about = Object.keys(keywords).find((keyword) => TYPE_BY_KEYWORD[keyword] !== undefined);
  return [about === undefined || patterns.length > 0 ? 'string' : TYPE_BY_KEYWORD[about]];
}

interface ArrayTools {
  readonly sample: Sampler;
  fits(schema: unknown, value: unknown): boolean;
}

function arraysFor(keywords: JsonObject, depth: number, { sample, fits }: ArrayTools): unknown[][] {
  const { items: itemSchema, contains, uniqueItems } = keywords;
  const first = listAt(keywords.prefixItems).map((schema) => sample(schema, depth + 1)[0]);
  if (first.includes(undefined)) return [];
  if (contains !== undefined) first.push(...sample(contains, depth + 1).slice(0, 1));
  const items = itemSchema === false ? [] : itemSchema === undefined ? ['example'] : sample(itemSchema, depth + 1);
  const [least, most] = [Number(keywords.minItems ?? 0), Number(keywords.maxItems ?? ITEMS_MAX)];
  const count = Math.min(Math.max(least, first.length, first.length === 0 ? 1 : 0), most, ITEMS_MAX);
  const pool = uniqueItems === true ? distinctOf(items, count, (value) => fits(itemSchema, value)) : items;
  const rest = Array.from({ length: count - first.length }, (_, at) => pool[at % pool.length]);
  const list = [...first, ...rest].slice(0, count);
  const empty = least === 0 && contains === undefined ? [[]] : [];
  return list.includes(undefined) ? empty : [list, ...empty];
}

/** Returns distinct items, shorter items first. Objects may be invalid, because it is unknown which of their members can vary. */
function distinctOf(items: readonly unknown[], count: number, fits: (value: unknown) => boolean): unknown[] {
  const [plain] = items;
  const more = variedOf(items.slice(0, 1), count).filter(fits);
  const all = isRecord(plain)
    ? [...items.filter((item) => JSON.stringify(item).length < 500), ...more]
    : [...more, ...items];
  return [...new Map(all.map((value) => [JSON.stringify(value), value])).values()];
}

/** Adds distinct values until there are enough. They may be invalid. */
function variedOf(items: readonly unknown[], count: number): unknown[] {
  const [plain] = items;
  const more = plain === undefined ? 0 : Math.max(0, count - items.length);
  return [...items, ...Array.from({ length: more }, (_, at) => varyValue(plain, at + 2))];
}

function varyValue(value: unknown, number: number): unknown {
  if (typeof value === 'string') return /\d$/.test(value) ? value.slice(0, -1) + number : `${value}${number}`;
  if (typeof value === 'number') return value + number;
  if (Array.isArray(value)) return value.map((item) => varyValue(item, number));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, varyValue(member, number)]));
}

interface ObjectTools {
  readonly sample: Sampler;
  /** Whether a member does not belong in the kind of message that is made. */
  isHidden(schema: unknown): boolean;
  readonly of: 'request' | 'answer';
}

interface Member {
  readonly name: string;
  readonly samples: readonly unknown[];
  readonly isRequired: boolean;
}

function createObjects({ sample, isHidden, of }: ObjectTools) {
  /** Returns the members; undefined if a required member has no value. */
  function membersOf(keywords: JsonObject, depth: number): Member[] | undefined {
    const declared = isRecord(keywords.properties) ? keywords.properties : {};
    const required = new Set(listAt(keywords.required).map(String));
    const members: Member[] = [];
    for (const name of new Set([...Object.keys(declared), ...required])) {
      const schema = Object.hasOwn(declared, name) ? declared[name] : schemaBeside(keywords, name);
      const isRequired = required.has(name);
      if (!isRequired && depth > OPTIONAL_DEPTH_MAX) continue;
      // An answer needs required members even if they are write-only, because the check of answers requires them.
      if (!(isRequired && of === 'answer') && isHidden(schema)) continue;
      const samples = sample(schema, depth + 1);
      if (samples.length > 0) members.push({ name, samples, isRequired });
      else if (isRequired) return undefined;
    }
    return members;
  }

  /** Returns members that the schema does not name, as many as it requires, or one if it names no members. */
  function unnamedMembers(keywords: JsonObject, known: number, depth: number): JsonObject {
    const least = Number(keywords.minProperties ?? 0) - known;
    const describes = isRecord(keywords.additionalProperties) || keywords.patternProperties !== undefined;
    const wanted = Math.max(least, known === 0 && describes && depth <= OPTIONAL_DEPTH_MAX ? 1 : 0);
    if (wanted <= 0) return {};
    const [pattern] = Object.keys(isRecord(keywords.patternProperties) ? keywords.patternProperties : {});
    const names = keywords.propertyNames === undefined ? [] : sample(keywords.propertyNames, depth + 1).map(String);
    if (pattern !== undefined) names.unshift(...textsFitting({ keywords: {}, patterns: [pattern] }));
    if (keywords.additionalProperties !== false) names.push('example');
    return Object.fromEntries(
      variedOf(names, wanted)
        .slice(0, wanted)
        .map((name) => [String(name), sample(schemaBeside(keywords, String(name)), depth + 1)[0]])
        .filter(([, value]) => value !== undefined),
    );
  }

  return function objectsFor(keywords: JsonObject, depth: number): JsonObject[] {
    const members = membersOf(keywords, depth);
    if (members === undefined) return [];
    const firsts = (some: readonly Member[]) => Object.fromEntries(some.map(({ name, samples }) => [name, samples[0]]));
    const dependent = isRecord(keywords.dependentRequired) ? keywords.dependentRequired : {};
    const leastNames = addRequired(
      new Set(members.filter(({ isRequired }) => isRequired).map(({ name }) => name)),
      dependent,
    );
    const needed = members.filter(({ name }) => leastNames.has(name));
    const least = { ...firsts(needed), ...unnamedMembers(keywords, needed.length, DEPTH_MAX) };
    const optional = members.filter(({ name }) => !leastNames.has(name));
    const room = Number(keywords.maxProperties ?? members.length) - needed.length;
    const some = { ...firsts(members.filter((one) => leastNames.has(one.name) || optional.indexOf(one) < room)) };
    const most = { ...some, ...unnamedMembers(keywords, Object.keys(some).length, depth) };
    const borders = members.flatMap(({ name, samples }) =>
      samples.slice(1, 4).map((value) => ({ ...least, [name]: value })),
    );
    return of === 'request' ? [least, most, ...borders] : [most, least, ...borders];
  };
}

/** Adds the names that present names require. */
function addRequired(names: Set<string>, dependent: JsonObject): ReadonlySet<string> {
  for (const name of names) for (const other of listAt(dependent[name])) names.add(String(other));
  return names;
}

/** Returns the schema of a member that `properties` does not name. */
function schemaBeside({ patternProperties, additionalProperties }: JsonObject, name: string): unknown {
  const fitting = Object.entries(isRecord(patternProperties) ? patternProperties : {}).filter(([pattern]) =>
    fitsScalar({ keywords: {}, patterns: [pattern] }, name),
  );
  if (fitting.length > 0) return { allOf: fitting.map(([, schema]) => schema) };
  return additionalProperties ?? {};
}

function listAt(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
