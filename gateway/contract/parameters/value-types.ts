// Finds the types that a schema allows, and the schemas that describe one value. How text is read depends on both.

import {
  child,
  follow,
  isRecord,
  itemsOf,
  type JsonObject,
  type LocatedValue,
  member,
  memberNames,
} from '../pointer.ts';

export type Types = ReadonlySet<string>;

interface TypedSchema {
  readonly types: Types;
}

/** Returns the schema of a parameter, declared directly or in its content with one media type. */
export function parameterSchema(root: JsonObject, parameter: LocatedValue): LocatedValue | undefined {
  const schema = child(parameter, 'schema');
  if (schema.value !== undefined) return schema;
  const content = member(root, parameter, 'content');
  const type = memberNames(content)[0];
  return type === undefined ? undefined : child(member(root, content, type), 'schema');
}

/**
 * Returns the schema and all schemas combined in it, with references resolved, because a value may have any of these forms. Each schema is
 * returned once, because unions may refer to each other.
 */
export function formsOf(
  root: JsonObject,
  schema: LocatedValue | undefined,
  depth = 0,
  seen: Set<unknown> = new Set(),
): LocatedValue[] {
  if (!schema || !isRecord(schema.value) || depth > 8 || seen.has(schema.value)) return [];
  seen.add(schema.value);
  const forms = [schema];
  if (schema.value.$ref !== undefined) forms.push(...formsOf(root, follow(root, schema), depth + 1, seen));
  for (const union of ['allOf', 'anyOf', 'oneOf']) {
    for (const branch of itemsOf(child(schema, union))) forms.push(...formsOf(root, branch, depth + 1, seen));
  }
  return forms;
}

/** Returns the allowed JSON types, declared or derived from enum and const; empty if the schema names none. */
export function typesOf(forms: readonly LocatedValue[]): Types {
  const schemas = forms.map(({ value }) => value as JsonObject);
  const declared = schemas.flatMap(({ type }) => [type ?? []].flat());
  if (declared.length > 0) return new Set(declared.map(String));
  const values = schemas.flatMap((schema) => [schema.enum ?? [], 'const' in schema ? schema.const : []].flat());
  return new Set(values.filter((value) => value !== null).map((value) => typeof value));
}

/** Returns the JSON types of a value. An integer is a number, too. */
export function jsonTypesOf(value: unknown): string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  return Number.isInteger(value) ? ['integer', 'number'] : [typeof value];
}

/** Whether the text is a list of items. */
export function isListed({ types }: TypedSchema): boolean {
  return types.has('array');
}

/** Whether the text is a list of names and values. */
export function isKeyed({ types }: TypedSchema): boolean {
  return types.has('object') && !types.has('string') && !types.has('array');
}
