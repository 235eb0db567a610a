// Turns the schemas of a document, in place and once at boot, into plain JSON Schema 2020-12 as Ajv understands it.

import type { JsonObject } from './document.ts';
import { isObject } from './pointer.ts';

// What stands under these is data, not schema.
const data = new Set(['example', 'examples', 'default', 'enum', 'const', 'required', 'x-examples']);
// What stands directly under these is named by the author, so no name there is a keyword.
const named = new Set([
  'properties',
  'patternProperties',
  'schemas',
  '$defs',
  'paths',
  'responses',
  'headers',
  'content',
  'parameters',
]);

/**
 * OpenAPI 3.0's `nullable` and boolean exclusive bounds become their 2020-12 forms; in every version a required member that is
 * read-only is not demanded, since requests may not carry it (OpenAPI 3.0.4, readOnly).
 */
export function normalizeSchemas(root: JsonObject): void {
  const isV30 = String(root.openapi).startsWith('3.0');
  const seen = new Set<object>();
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
      excuseReadOnly(node);
    }
    for (const [key, below] of Object.entries(node)) {
      if (keysAreNames) walk(below, false);
      else if (!data.has(key)) walk(below, named.has(key));
    }
  };
  walk(root, false);
}

function translateV30(schema: JsonObject): void {
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
  const nullable = schema.nullable;
  delete schema.nullable;
  if (!nullable) return;
  if (typeof schema.type === 'string') schema.type = [schema.type, 'null'];
  if (Array.isArray(schema.enum) && !schema.enum.includes(null)) schema.enum = [...schema.enum, null];
  for (const union of ['allOf', 'oneOf', 'anyOf'] as const) {
    if (schema.type !== undefined || !Array.isArray(schema[union])) continue;
    const { [union]: branches, ...rest } = schema;
    for (const key of Object.keys(schema)) delete schema[key];
    Object.assign(schema, { anyOf: [{ type: 'null' }, { ...rest, [union]: branches }] });
    return;
  }
}

function excuseReadOnly(schema: JsonObject): void {
  const { required, properties } = schema;
  if (!Array.isArray(required) || !isObject(properties)) return;
  const demanded = required.filter((name) => {
    const property = properties[String(name)];
    return !(isObject(property) && property.readOnly === true);
  });
  if (demanded.length !== required.length) schema.required = demanded;
}
