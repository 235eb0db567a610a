// Normalizes a schema for comparison. References are resolved and `allOf` is merged, so that equivalent spellings become equal.

import { jsonTypesOf } from '../parameters/value-types.ts';
import { child, follow, isRecord, itemsOf, type JsonObject, type LocatedValue, memberNames } from '../pointer.ts';
import { addBounds, type Bounds, settleIntegers } from './bounds.ts';

export interface Union {
  readonly kind: 'oneOf' | 'anyOf';
  readonly branches: readonly LocatedValue[];
}

export interface View {
  /** No value fits. */
  never: boolean;
  /** The allowed types; undefined for any. If `number` is present, `integer` is not listed. */
  types: ReadonlySet<string> | undefined;
  /** The values of enum and const, by their JSON text; undefined for any value. */
  values: ReadonlyMap<string, unknown> | undefined;
  /** Lower and upper bounds by keyword; inclusive and exclusive numeric bounds share one entry. */
  readonly bounds: Bounds;
  readonly patterns: Set<string>;
  readonly formats: Set<string>;
  readonly properties: Map<string, LocatedValue>;
  readonly patternProperties: Map<string, LocatedValue>;
  readonly required: Set<string>;
  /** The schema of undeclared members; undefined for any value. */
  additional: LocatedValue | undefined;
  /** Undeclared members are not allowed. */
  closed: boolean;
  items: LocatedValue | undefined;
  prefixItems: readonly LocatedValue[];
  unions: readonly Union[];
  /** All other keywords that affect validation, as text. */
  readonly rest: Map<string, string>;
  default: string | undefined;
  readOnly: boolean;
  writeOnly: boolean;
}

const DECISIVE = [
  ...['not', 'if', 'then', 'else', 'contains', 'minContains', 'maxContains', 'dependentRequired', 'dependentSchemas'],
  ...['propertyNames', 'unevaluatedItems', 'multipleOf', 'uniqueItems', '$dynamicRef'],
];
const DEPTH_MAX = 24;

export const ANYTHING: LocatedValue = { value: true, pointer: 'true' };

/** Returns a function that creates and caches the views of one document. */
export function createViews(root: JsonObject): (located: LocatedValue) => View {
  const known = new Map<string, View>();

  return function viewOf(located) {
    const found = known.get(located.pointer);
    if (found !== undefined) return found;
    const view = emptyView();
    add(root, view, located, new Set());
    const settled = withNull(root, settle(view), viewOf);
    known.set(located.pointer, settled);
    return settled;
  };
}

/** If a schema is only a reference, returns its target. */
export function resolve(root: JsonObject, located: LocatedValue): LocatedValue {
  const { value } = located;
  const isBare =
    isRecord(value) && '$ref' in value && Object.keys(value).every((key) => key === '$ref' || isWords(key));
  return isBare ? follow(root, located) : located;
}

function isWords(key: string): boolean {
  return ['description', 'summary', 'title', 'example', 'examples', 'deprecated'].includes(key) || key.startsWith('x-');
}

function emptyView(): View {
  return {
    never: false,
    types: undefined,
    values: undefined,
    bounds: new Map(),
    patterns: new Set(),
    formats: new Set(),
    properties: new Map(),
    patternProperties: new Map(),
    required: new Set(),
    additional: undefined,
    closed: false,
    items: undefined,
    prefixItems: [],
    unions: [],
    rest: new Map(),
    default: undefined,
    readOnly: false,
    writeOnly: false,
  };
}

/** Merges the constraints of a schema into a view. */
function add(root: JsonObject, view: View, located: LocatedValue, inside: Set<string>): void {
  const { value: schema, pointer } = located;
  if (schema === false) view.never = true;
  // A circular schema adds nothing to itself.
  if (!isRecord(schema) || inside.has(pointer) || inside.size > DEPTH_MAX) return;
  inside.add(pointer);
  if (typeof schema.$ref === 'string') {
    const target = follow(root, { value: { $ref: schema.$ref }, pointer });
    if (target.pointer === pointer) view.rest.set('$ref', schema.$ref);
    else add(root, view, target, inside);
  }
  for (const part of itemsOf(child(located, 'allOf'))) add(root, view, part, inside);
  addValues(view, schema);
  addBounds(view.bounds, schema);
  addMembers(view, located, schema);
  for (const kind of ['oneOf', 'anyOf'] as const) {
    const branches = itemsOf(child(located, kind));
    if (branches.length === 1) add(root, view, branches[0] as LocatedValue, inside);
    else if (branches.length > 1) view.unions = [...view.unions, { kind, branches }];
  }
  for (const keyword of DECISIVE) {
    if (schema[keyword] === undefined || schema[keyword] === false) continue;
    view.rest.set(keyword, textOf(root, schema[keyword]));
  }
  if (isRecord(schema.discriminator)) view.rest.set('discriminator', String(schema.discriminator.propertyName));
  if (schema.default !== undefined) view.default = textOf(root, schema.default);
  view.readOnly ||= schema.readOnly === true;
  view.writeOnly ||= schema.writeOnly === true;
  inside.delete(pointer);
}

function addValues(view: View, schema: JsonObject): void {
  if (schema.type !== undefined) view.types = both(view.types, typesIn(schema.type));
  for (const list of [schema.enum, 'const' in schema ? [schema.const] : undefined]) {
    if (!Array.isArray(list)) continue;
    const before = view.values;
    const values = new Map(list.map((value) => [JSON.stringify(value), value]));
    view.values = before === undefined ? values : new Map([...values].filter(([text]) => before.has(text)));
  }
  if (typeof schema.pattern === 'string') view.patterns.add(schema.pattern);
  if (typeof schema.format === 'string') view.formats.add(schema.format);
}

function typesIn(type: unknown): Set<string> {
  const types = new Set([type].flat().map(String));
  if (types.has('number')) types.delete('integer');
  return types;
}

function both(one: ReadonlySet<string> | undefined, other: ReadonlySet<string>): ReadonlySet<string> {
  if (one === undefined) return other;
  const kept = new Set<string>();
  for (const type of one) if (other.has(type) || (type === 'integer' && other.has('number'))) kept.add(type);
  for (const type of other) if (type === 'integer' && one.has('number')) kept.add(type);
  return kept;
}

function addMembers(view: View, located: LocatedValue, schema: JsonObject): void {
  for (const keyword of ['properties', 'patternProperties'] as const) {
    const members = child(located, keyword);
    for (const name of memberNames(members)) {
      const before = view[keyword].get(name);
      view[keyword].set(name, together(before, child(members, name)));
    }
  }
  for (const name of Array.isArray(schema.required) ? schema.required : []) view.required.add(String(name));
  const { additionalProperties: additional, unevaluatedProperties: unevaluated } = schema;
  if (additional === false || unevaluated === false) view.closed = true;
  if (isRecord(additional)) view.additional = together(view.additional, child(located, 'additionalProperties'));
  if (isRecord(unevaluated)) view.additional = together(view.additional, child(located, 'unevaluatedProperties'));
  if (schema.items !== undefined) view.items = together(view.items, child(located, 'items'));
  const prefix = itemsOf(child(located, 'prefixItems'));
  if (prefix.length > 0) view.prefixItems = prefix;
}

/** Combines two schemas for the same place, which must both hold. */
function together(one: LocatedValue | undefined, other: LocatedValue): LocatedValue {
  if (one === undefined) return other;
  return { value: { allOf: [one.value, other.value] }, pointer: `${one.pointer}&${other.pointer}` };
}

/** Reconciles types and values. Removes values that the types exclude, and derives the types from the values. */
function settle(view: View): View {
  const { values, types } = view;
  if (values !== undefined) {
    const kept = [...values].filter(
      ([, value]) => types === undefined || jsonTypesOf(value).some((type) => types.has(type)),
    );
    view.values = new Map(kept);
    view.types = new Set(kept.map(([, value]) => jsonTypesOf(value)[0] as string));
  }
  if (view.types?.has('integer')) settleIntegers(view.bounds);
  return view;
}

/** Treats "X or null" written as two branches like X with the type null added. */
function withNull(root: JsonObject, view: View, viewOf: (located: LocatedValue) => View): View {
  const [union, ...others] = view.unions;
  if (union?.branches.length !== 2 || others.length > 0 || !isNothingBut(view)) return view;
  const rest = union.branches.filter((branch) => !isNull(root, branch));
  const [only] = rest;
  if (rest.length !== 1 || only === undefined) return view;
  const inner = viewOf(resolve(root, only));
  const nullBranch = union.branches.find((branch) => branch !== only) as LocatedValue;
  const about = { default: view.default ?? inner.default, readOnly: view.readOnly, writeOnly: view.writeOnly };
  if (isNothingBut(inner) && inner.unions.length === 1) {
    const [{ kind, branches } = union] = inner.unions;
    return { ...inner, ...about, unions: [{ kind, branches: [...branches, nullBranch] }] };
  }
  return {
    ...inner,
    ...about,
    types: inner.types && new Set([...inner.types, 'null']),
    values: inner.values && new Map([...inner.values, ['null', null]]),
  };
}

function isNull(root: JsonObject, branch: LocatedValue): boolean {
  const { value } = resolve(root, branch);
  if (!isRecord(value)) return false;
  return [value.type].flat().join() === 'null' || value.const === null || JSON.stringify(value.enum) === '[null]';
}

/** Returns whether a view has no constraints except unions. */
export function isNothingBut(view: View): boolean {
  const { types, values, bounds, patterns, formats, properties, patternProperties, required, rest } = view;
  const empty = [bounds, patterns, formats, properties, patternProperties, required].every(({ size }) => size === 0);
  const says = [...rest.keys()].some((keyword) => keyword !== 'discriminator');
  const ofArrays = view.items !== undefined || view.prefixItems.length > 0;
  return !view.never && !types && !values && empty && !says && !view.closed && !view.additional && !ofArrays;
}

/** Returns the same text for equal values, independent of place and member order. */
function textOf(root: JsonObject, value: unknown, depth = 0): string {
  if (Array.isArray(value)) return `[${value.map((item) => textOf(root, item, depth + 1)).join()}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? '';
  const target = typeof value.$ref === 'string' && depth < 8 ? follow(root, { value, pointer: '' }).value : value;
  if (!isRecord(target)) return JSON.stringify(target) ?? '';
  const keys = Object.keys(target).filter((key) => !isWords(key) || target !== value);
  return `{${keys
    .sort()
    .map((key) => `${JSON.stringify(key)}:${textOf(root, target[key], depth + 1)}`)
    .join()}}`;
}
