// Turns the schemas of a document, in place and once per configuration, into plain JSON Schema 2020-12 as Ajv understands it.

import { wordSet } from '../../shared/text.ts';
import { escapeToken, follow, isRecord, type JsonObject } from '../pointer.ts';
import { declareInherited } from './inherited-names.ts';

// The values of these members are data, not schemas.
const DATA_KEYWORDS = wordSet('example examples default enum const required mapping scopes security');
// The author chooses the member names of these objects of OpenAPI documents, so they are never keywords.
const OPENAPI_MAPS = wordSet(
  'properties patternProperties dependentSchemas $defs schemas parameters headers responses requestBodies',
  'securitySchemes links callbacks pathItems paths webhooks content encoding variables',
);

/**
 * Replaces OpenAPI 3.0's `nullable`, boolean exclusive bounds and bare references by their 2020-12 forms. In every version, removes
 * read-only members from `required`, because requests may not carry them (OpenAPI 3.0.4, readOnly). Returns whether some schema has a
 * name ($id, $anchor), by which references can address it.
 */
export function normalizeSchemas(root: JsonObject): boolean {
  const isV30 = String(root.openapi).startsWith('3.0');
  const seen = new Set<object>();
  let hasNames = false;
  const walk = (value: unknown, keysAreNames: boolean): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    if (Array.isArray(value)) {
      for (const item of value) walk(item, false);
      return;
    }
    const node = value as JsonObject;
    if (!keysAreNames) {
      if (isV30) translateV30(node);
      // OpenAPI 3.1 has no `nullable`, but Ajv would still apply it.
      else if (typeof node.nullable === 'boolean') delete node.nullable;
      if (node.format === 'int-or-string') admitInteger(node);
      excuseReadOnly(root, node);
      declareInherited(node);
      hasNames ||= '$id' in node || '$anchor' in node || '$dynamicAnchor' in node;
    }
    for (const [key, below] of Object.entries(node)) {
      if (keysAreNames) walk(below, false);
      else if (!DATA_KEYWORDS.has(key) && !key.startsWith('x-')) walk(below, OPENAPI_MAPS.has(key));
    }
  };
  walk(root, false);
  return hasNames;
}

/**
 * Calls `visit` with every object of a document that may be a schema, from the outside in. The result of a visit is passed to the visits of
 * the objects inside.
 */
export function eachSchema<Context>(
  root: JsonObject,
  outermost: Context,
  visit: (schema: JsonObject, pointer: string, context: Context) => Context,
): void {
  const seen = new Set<object>();
  const walk = (value: unknown, keysAreNames: boolean, pointer: string, context: Context): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    const isNode = !Array.isArray(value) && !keysAreNames;
    const inner = isNode ? visit(value as JsonObject, pointer, context) : context;
    for (const [key, below] of Object.entries(value)) {
      if (isNode && (DATA_KEYWORDS.has(key) || key.startsWith('x-'))) continue;
      walk(below, isNode && OPENAPI_MAPS.has(key), `${pointer}/${escapeToken(key)}`, inner);
    }
  };
  walk(root, false, '', outermost);
}

function translateV30(schema: JsonObject): void {
  if (typeof schema.$ref === 'string') {
    // Siblings of a reference are ignored (OpenAPI 3.0.4, Reference Object).
    for (const key of Object.keys(schema)) if (key !== '$ref') delete schema[key];
    return;
  }
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof schema[exclusive] !== 'boolean') continue;
    if (schema[exclusive] && typeof schema[bound] === 'number') {
      schema[exclusive] = schema[bound];
      delete schema[bound];
    } else delete schema[exclusive];
  }
  if (typeof schema.nullable !== 'boolean') return;
  if (schema.nullable) admitNull(schema);
  delete schema.nullable;
}

/** Also admits null in combined schemas, because authors mean this, although the specification does not say so. */
function admitNull(schema: JsonObject): void {
  if (typeof schema.type === 'string') schema.type = [schema.type, 'null'];
  if (Array.isArray(schema.enum) && !schema.enum.includes(null)) schema.enum = [...schema.enum, null];
  const combined: JsonObject = {};
  for (const keyword of ['allOf', 'oneOf', 'anyOf', 'discriminator']) {
    if (schema[keyword] === undefined) continue;
    combined[keyword] = schema[keyword];
    delete schema[keyword];
  }
  if (Object.keys(combined).length > 0) schema.anyOf = [{ type: 'null' }, combined];
}

/** Admits integers for the format `int-or-string`, which Kubernetes uses with type string for values that may be integers. */
function admitInteger(schema: JsonObject): void {
  const types: unknown[] = [schema.type ?? []].flat();
  if (types.includes('string')) schema.type = [...new Set([...types, 'integer'])];
}

function excuseReadOnly(root: JsonObject, schema: JsonObject): void {
  if (schema.required === undefined && schema.allOf === undefined) return;
  const parts = partsOf(root, schema);
  if (!parts.some(({ required }) => Array.isArray(required))) return;
  const readOnly = new Set(parts.flatMap(({ properties }) => readOnlyNames(root, properties)));
  if (readOnly.size === 0) return;
  for (const part of parts) {
    if (Array.isArray(part.required)) part.required = part.required.filter((name) => !readOnly.has(name));
  }
}

/** Returns a schema and its `allOf` parts, because one part may declare a member that another requires. */
function partsOf(root: JsonObject, schema: JsonObject, depth = 0): JsonObject[] {
  const branches = Array.isArray(schema.allOf) && depth < 8 ? schema.allOf : [];
  const below = branches.flatMap((value) => {
    const part = follow(root, { value, pointer: '' }).value;
    return isRecord(part) ? partsOf(root, part, depth + 1) : [];
  });
  return [schema, ...below];
}

function readOnlyNames(root: JsonObject, properties: unknown): string[] {
  if (!isRecord(properties)) return [];
  return Object.entries(properties).flatMap(([name, value]) => {
    const followed = follow(root, { value, pointer: '' }).value;
    return [value, followed].some((schema) => isRecord(schema) && schema.readOnly === true) ? [name] : [];
  });
}
