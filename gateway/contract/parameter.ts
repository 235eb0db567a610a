// One declared parameter: what its text has to become, by the style that the contract declares (OpenAPI 3.1.1, section 4.8.12).

import type { JsonObject } from './document.ts';
import { follow, isObject, type Located, member } from './pointer.ts';
import { parameterSchema } from './schemas.ts';

export type Place = 'path' | 'query' | 'header' | 'cookie';
type Types = ReadonlySet<string>;

/** What one parameter's text has to become. */
export interface Parameter {
  readonly name: string;
  readonly place: Place;
  readonly types: Types;
  readonly itemTypes: Types;
  readonly propertyTypes: ReadonlyMap<string, Types>;
  /** Between the items of one value; absent where each item is a pair of its own. */
  readonly separator: string | undefined;
  readonly deepObject: boolean;
  readonly json: boolean;
  readonly fallback: unknown;
}

/** Reads a declaration once, at boot. */
export function toParameter(root: JsonObject, located: Located): Parameter {
  const { name, in: place, style, explode, content } = located.value as JsonObject;
  const schema = parameterSchema(root, located);
  const declared = (style as string | undefined) ?? (place === 'query' || place === 'cookie' ? 'form' : 'simple');
  const exploded = (explode as boolean | undefined) ?? declared === 'form';
  const properties = schema && follow(root, schema);
  return {
    name: name as string,
    place: place as Place,
    types: typesOf(root, schema),
    itemTypes: typesOf(root, schema && member(root, schema, 'items')),
    propertyTypes: propertyTypesOf(root, properties),
    separator: separatorOf(declared, exploded),
    deepObject: declared === 'deepObject',
    json: content !== undefined,
    fallback: isObject(properties?.value) ? properties.value.default : undefined,
  };
}

function separatorOf(style: string, exploded: boolean): string | undefined {
  if (style === 'spaceDelimited') return exploded ? undefined : ' ';
  if (style === 'pipeDelimited') return exploded ? undefined : '|';
  if (style === 'form') return exploded ? undefined : ',';
  return style === 'deepObject' ? undefined : ',';
}

/** The JSON types a schema admits, seen through references and combinations; empty when it says nothing. */
function typesOf(root: JsonObject, schema: Located | undefined, depth = 0): Types {
  const types = new Set<string>();
  const located = schema && follow(root, schema);
  if (!located || !isObject(located.value) || depth > 8) return types;
  for (const type of [located.value.type ?? []].flat()) types.add(String(type));
  for (const union of ['allOf', 'anyOf', 'oneOf']) {
    const branches = located.value[union];
    if (!Array.isArray(branches)) continue;
    for (const [index, value] of branches.entries()) {
      for (const type of typesOf(root, { value, pointer: `${located.pointer}/${union}/${index}` }, depth + 1))
        types.add(type);
    }
  }
  return types;
}

function propertyTypesOf(root: JsonObject, schema: Located | undefined): ReadonlyMap<string, Types> {
  const properties = schema && member(root, schema, 'properties');
  if (!properties || !isObject(properties.value)) return new Map();
  return new Map(Object.keys(properties.value).map((name) => [name, typesOf(root, member(root, properties, name))]));
}

/** Text → the value that the schema is asked about. Text that does not fit its type stays text. */
export function toValue(parameter: Parameter, text: string): unknown {
  if (parameter.json) return parseOrText(text);
  if (parameter.types.has('array'))
    return text === '' ? [] : text.split(parameter.separator ?? ',').map((item) => toScalar(item, parameter.itemTypes));
  if (parameter.types.has('object') && !parameter.types.has('string')) return toObject(parameter, text);
  return toScalar(text, parameter.types);
}

/** `R,100,G,200` */
function toObject(parameter: Parameter, text: string): Record<string, unknown> {
  const parts = text.split(parameter.separator ?? ',');
  const value = bare();
  for (let i = 0; i < parts.length; i += 2) {
    const name = parts[i] as string;
    value[name] = toScalar(parts[i + 1] ?? '', parameter.propertyTypes.get(name) ?? new Set());
  }
  return value;
}

/** Text that is not written as its type stays text, so that the schema refuses it. `1e2` is no integer here, `007` no number. */
export function toScalar(text: string, types: Types): unknown {
  if (types.has('integer') && /^-?(0|[1-9]\d*)$/.test(text)) return Number(text);
  if (types.has('number') && /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return Number(text);
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function parseOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** An object without prototype: no name a client chooses can mean anything in it. */
export function bare(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}
