// Merges a schema with its references, its `allOf`, and one branch of each union, so that all its keywords are in one object.

import { follow, isRecord, type JsonObject } from '../pointer.ts';

/** A schema without references and combinations. */
export interface FlatSchema {
  readonly keywords: JsonObject;
  /** All must match. */
  readonly patterns: readonly string[];
}

interface MergedSchema extends FlatSchema {
  /** The branches of each `oneOf`, `anyOf` and `if` that is still open. */
  readonly unions: readonly (readonly unknown[])[];
}

const DEPTH_MAX = 8;
/** Maximum number of alternatives of one schema. */
const ALTERNATIVES_MAX = 8;
const NO_VALUE = Symbol('no value');

/** Returns one flat schema per combination of branches that is tried, the first branches first; empty if no value fits. */
export function flatSchemasOf(root: JsonObject, schema: unknown): FlatSchema[] {
  const base = mergeSchema(root, schema, 0);
  return base === undefined ? [] : alternativesOf(root, base, 0);
}

/** Returns the merged schema; undefined if no value is valid. */
function mergeSchema(root: JsonObject, schema: unknown, depth: number): MergedSchema | undefined {
  if (schema === false) return undefined;
  const empty: MergedSchema = { keywords: {}, patterns: [], unions: [] };
  if (!isRecord(schema) || depth > DEPTH_MAX) return empty;
  const { $ref, allOf, oneOf, anyOf, if: condition, then, else: otherwise, pattern, not: _, ...keywords } = schema;
  const unions = [oneOf, anyOf].filter((branches) => Array.isArray(branches) && branches.length > 0) as unknown[][];
  if (condition !== undefined && (then ?? otherwise) !== undefined)
    unions.push([{ allOf: [condition, then ?? {}] }, otherwise ?? {}]);
  const own: MergedSchema = { keywords, patterns: typeof pattern === 'string' ? [pattern] : [], unions };
  const target = follow(root, { value: schema, pointer: '' }).value;
  const parts = [...($ref === undefined || target === schema ? [] : [target]), ...(Array.isArray(allOf) ? allOf : [])];
  let all: MergedSchema | undefined = empty;
  for (const part of parts) all = all && joinSchemas(all, mergeSchema(root, part, depth + 1));
  return all && joinSchemas(all, own);
}

function alternativesOf(root: JsonObject, base: MergedSchema, depth: number): FlatSchema[] {
  const [union, ...unions] = base.unions;
  if (union === undefined || depth > DEPTH_MAX) return [base];
  const found: FlatSchema[] = [];
  for (const branch of union) {
    const chosen = joinSchemas({ ...base, unions }, mergeSchema(root, branch, 1));
    if (chosen !== undefined) found.push(...alternativesOf(root, chosen, depth + 1));
    if (found.length >= ALTERNATIVES_MAX) break;
  }
  return found.slice(0, ALTERNATIVES_MAX);
}

function joinSchemas(one: MergedSchema, other: MergedSchema | undefined): MergedSchema | undefined {
  if (other === undefined) return undefined;
  const [left, right] = [
    withoutPartialExamples(one.keywords, other.keywords),
    withoutPartialExamples(other.keywords, one.keywords),
  ];
  const keywords: JsonObject = { ...left, ...right };
  for (const [keyword, join] of Object.entries(JOINS)) {
    if (left[keyword] === undefined || right[keyword] === undefined) continue;
    const value = join(left[keyword], right[keyword]);
    if (value === NO_VALUE) return undefined;
    keywords[keyword] = value;
  }
  return {
    keywords,
    patterns: [...new Set([...one.patterns, ...other.patterns])],
    unions: [...one.unions, ...other.unions],
  };
}

/** Removes examples of one part that lack members of another part. */
function withoutPartialExamples(part: JsonObject, other: JsonObject): JsonObject {
  if (other.properties === undefined && other.required === undefined) return part;
  const { example: _example, examples: _examples, default: _default, ...rest } = part;
  return rest;
}

type Join = (one: unknown, other: unknown) => unknown;

const greater: Join = (one, other) => Math.max(Number(one), Number(other));
const smaller: Join = (one, other) => Math.min(Number(one), Number(other));
const both: Join = (one, other) => ({ allOf: [one, other] });
const either: Join = (one, other) => one === true || other === true;
const equal = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

const JOINS: Readonly<Record<string, Join>> = {
  type: typeOfBoth,
  const: (one, other) => (equal(one, other) ? one : NO_VALUE),
  enum: (one, other) => {
    const common = (one as unknown[]).filter((value) =>
      (other as unknown[]).some((candidate) => equal(value, candidate)),
    );
    return common.length === 0 ? NO_VALUE : common;
  },
  required: (one, other) => [...new Set([...(one as unknown[]), ...(other as unknown[])])],
  properties: membersOfBoth,
  patternProperties: membersOfBoth,
  items: both,
  propertyNames: both,
  additionalProperties: (one, other) => (one === false || other === false ? false : both(one, other)),
  multipleOf: (one, other) => (equal(one, other) ? one : Number(one) * Number(other)),
  uniqueItems: either,
  readOnly: either,
  writeOnly: either,
  ...Object.fromEntries(
    ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'].map((name) => [name, greater]),
  ),
  ...Object.fromEntries(
    ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'].map((name) => [name, smaller]),
  ),
};

function typeOfBoth(one: unknown, other: unknown): unknown {
  const [left, right] = [[one].flat(), [other].flat()];
  const covers = (types: unknown[], type: unknown) =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  const common = [...left.filter((type) => covers(right, type)), ...right.filter((type) => covers(left, type))];
  return common.length === 0 ? NO_VALUE : [...new Set(common)];
}

function membersOfBoth(one: unknown, other: unknown): unknown {
  const [left, right] = [one as JsonObject, other as JsonObject];
  const shared = Object.keys(right).filter((name) => Object.hasOwn(left, name));
  return { ...left, ...right, ...Object.fromEntries(shared.map((name) => [name, both(left[name], right[name])])) };
}
