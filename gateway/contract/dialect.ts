// Turns the schemas of a document, in place and once at boot, into plain JSON Schema 2020-12 as Ajv understands it.

import type { JsonObject } from './document.ts';
import { follow, isObject } from './pointer.ts';

// What stands under these is data, not schema.
const data = new Set(['example', 'examples', 'default', 'enum', 'const', 'required', 'mapping', 'scopes', 'security']);
// What stands directly under these is named by the author, so no name there is a keyword.
const named = new Set([
  ...['properties', 'patternProperties', 'dependentSchemas', '$defs', 'schemas', 'parameters', 'headers', 'responses'],
  ...[
    'requestBodies',
    'securitySchemes',
    'links',
    'callbacks',
    'pathItems',
    'paths',
    'webhooks',
    'content',
    'encoding',
  ],
  ...['variables'],
]);

/**
 * OpenAPI 3.0's `nullable`, boolean exclusive bounds and bare references become their 2020-12 forms; in every version a required
 * member that is read-only is not demanded, since requests may not carry it (OpenAPI 3.0.4, readOnly). Answers whether some schema has a
 * name of its own, which references may use instead of its place.
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
      // No keyword any more, but Ajv knows it.
      else if (typeof node.nullable === 'boolean') delete node.nullable;
      if (node.format === 'int-or-string') admitInteger(node);
      excuseReadOnly(root, node);
      hasNames ||= '$id' in node || '$anchor' in node || '$dynamicAnchor' in node;
    }
    for (const [key, below] of Object.entries(node)) {
      if (keysAreNames) walk(below, false);
      else if (!data.has(key) && !key.startsWith('x-')) walk(below, named.has(key));
    }
  };
  walk(root, false);
  return hasNames;
}

function translateV30(schema: JsonObject): void {
  if (typeof schema.$ref === 'string') {
    // What stands beside a reference is ignored there (OpenAPI 3.0.4, Reference Object).
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

/** Also past the schemas that are combined in it, which is what authors mean although the specification leaves it open. */
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

/** The format by which Kubernetes calls a string what may be a number as well. */
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

/** A schema and what it is made of by `allOf`: members may be declared in one part and required in another. */
function partsOf(root: JsonObject, schema: JsonObject, depth = 0): JsonObject[] {
  const branches = Array.isArray(schema.allOf) && depth < 8 ? schema.allOf : [];
  const below = branches.flatMap((value) => {
    const part = follow(root, { value, pointer: '' }).value;
    return isObject(part) ? partsOf(root, part, depth + 1) : [];
  });
  return [schema, ...below];
}

function readOnlyNames(root: JsonObject, properties: unknown): string[] {
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, value]) => {
    const followed = follow(root, { value, pointer: '' }).value;
    return [value, followed].some((schema) => isObject(schema) && schema.readOnly === true) ? [name] : [];
  });
}
