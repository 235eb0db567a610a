// Copies a schema of a contract to a self-contained JSON Schema 2020-12. The references of the copy lead to its own `$defs`, and keywords
// of OpenAPI are removed. The document was normalized before (contract/schemas/dialect.ts), and contains neither `nullable` nor the forms
// of Swagger.

import { shortTextOf } from '../../shared/text.ts';
import {
  escapeToken,
  follow,
  isObject,
  type JsonObject,
  type LocatedValue,
  pathOf,
  uriDecoded,
  valueAt,
} from '../pointer.ts';

/** The direction, which decides whether read-only or write-only members are removed. */
type Direction = 'request' | 'answer';

export interface LocalSchemas {
  /** Returns a copy of a schema. References in it lead to the definitions. */
  copyOf(schema: unknown): unknown;
  /** Returns the definitions to which the copies refer; undefined if there are none. Call it after all copies are made. */
  definitions(): JsonObject | undefined;
  /** The rules that the copies cannot express, each once. */
  readonly losses: ReadonlySet<string>;
}

interface LocalSchemaOptions {
  readonly direction: Direction;
  /** Longer descriptions are cut. */
  readonly descriptionCharactersMax: number;
  /** Whether bounds and formats are left out, as for answers, which are passed on even if they break the contract. */
  readonly loose?: boolean;
}

/** The values of these members are data, not schemas. */
const DATA_KEYWORDS = new Set(['enum', 'const', 'default', 'required', 'type']);
/** The authors choose the names of the members of these objects. */
const KEYWORDS_OF_NAMES = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs']);
/** Keywords that only OpenAPI has, or that serve only people who read a page. */
const DROPPED_KEYWORDS = new Set([
  ...['xml', 'externalDocs', 'example', 'examples', 'discriminator', 'contentMediaType', '$comment'],
  ...['$schema', '$id', '$anchor', '$dynamicAnchor', '$vocabulary', 'readOnly', 'writeOnly'],
]);
/** The keywords that a loose copy leaves out: bounds and formats. Types, members and descriptions stay. */
const BOUND_KEYWORDS = new Set([
  ...[
    'required',
    'additionalProperties',
    'unevaluatedProperties',
    'unevaluatedItems',
    'patternProperties',
    'propertyNames',
  ],
  ...[
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
    'multipleOf',
    'minLength',
    'maxLength',
    'pattern',
    'format',
  ],
  ...[
    'minItems',
    'maxItems',
    'uniqueItems',
    'contains',
    'minContains',
    'maxContains',
    'minProperties',
    'maxProperties',
  ],
  ...['enum', 'const', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas', 'default'],
]);
/** Members under a name that contract/schemas/dialect.ts adds for Ajv. */
const ADDED_PATTERNS = ['(?:__proto__)', '^__proto__$'];

/** The maximum depth of copies. Most keywords of a schema are copied without a check. */
const DEPTH_MAX = 200;

export function createLocalSchemas(root: JsonObject, options: LocalSchemaOptions): LocalSchemas {
  const { direction, descriptionCharactersMax, loose = false } = options;
  const absent = direction === 'request' ? 'readOnly' : 'writeOnly';
  const losses = new Set<string>();
  /** The copies by name, in a map, because authors choose the names. */
  const copies = new Map<string, unknown>();
  /** Pointer → name of the definition. */
  const names = new Map<string, string>();
  /** Definitions to copy. A chain of references may be longer than the stack. */
  const due: (readonly [name: string, place: LocatedValue])[] = [];

  function copyOf(schema: unknown, depth = 0): unknown {
    if (typeof schema === 'boolean') return schema;
    if (!isObject(schema)) return {};
    if (depth > DEPTH_MAX) {
      losses.add(`schemas that are nested more than ${DEPTH_MAX} deep`);
      return {};
    }
    return Object.fromEntries(
      Object.entries(schema).flatMap(([name, value]) => {
        if (DROPPED_KEYWORDS.has(name) || name.startsWith('x-') || (loose && BOUND_KEYWORDS.has(name))) return [];
        const kept = keywordOf(name, value, depth);
        return kept === undefined ? [] : [[loose && name === 'oneOf' ? 'anyOf' : name, kept]];
      }),
    );
  }

  function keywordOf(name: string, value: unknown, depth: number): unknown {
    if (name === '$ref') return referenceTo(value);
    if (name === 'description')
      return typeof value === 'string' ? shortTextOf(value, descriptionCharactersMax) : undefined;
    if (name === '$dynamicRef' || name === '$recursiveRef') {
      losses.add(`${name}, which allows anything here`);
      return undefined;
    }
    if (DATA_KEYWORDS.has(name)) return value;
    if (KEYWORDS_OF_NAMES.has(name)) return isObject(value) ? membersOf(name, value, depth) : undefined;
    if (Array.isArray(value)) return value.map((item) => (isObject(item) ? copyOf(item, depth + 1) : item));
    return isObject(value) ? copyOf(value, depth + 1) : value;
  }

  function membersOf(keyword: string, members: JsonObject, depth: number): JsonObject | undefined {
    const kept = Object.entries(members).filter(([name, schema]) => {
      if (keyword === 'patternProperties') return !ADDED_PATTERNS.includes(name);
      return keyword !== 'properties' || !isAbsent(schema);
    });
    if (keyword === 'patternProperties' && kept.length === 0) return undefined;
    return Object.fromEntries(kept.map(([name, schema]) => [name, copyOf(schema, depth + 1)]));
  }

  function isAbsent(schema: unknown): boolean {
    const { value } = follow(root, { value: schema, pointer: '' });
    return (isObject(schema) && schema[absent] === true) || (isObject(value) && value[absent] === true);
  }

  /** Returns the reference to the definition with the copy of the referenced schema. */
  function referenceTo(reference: unknown): string | undefined {
    const place = typeof reference === 'string' ? placeOf(root, reference) : undefined;
    if (place === undefined) {
      losses.add(`the reference ${shortTextOf(String(reference), 80)}, in whose place anything is allowed`);
      return undefined;
    }
    return `#/$defs/${encodeURIComponent(escapeToken(define(place)))}`;
  }

  function define(place: LocatedValue): string {
    const known = names.get(place.pointer);
    if (known !== undefined) return known;
    const name = freeName(copies, pathOf(place.pointer).at(-1) ?? 'root');
    names.set(place.pointer, name);
    copies.set(name, undefined);
    due.push([name, place]);
    return name;
  }

  function definitions(): JsonObject | undefined {
    for (let next = due.pop(); next !== undefined; next = due.pop()) copies.set(next[0], copyOf(next[1].value));
    return copies.size === 0 ? undefined : Object.fromEntries(copies);
  }

  return {
    copyOf: (schema) => copyOf(schema),
    definitions,
    losses,
  };
}

/** Returns the place to which a reference within the document leads; undefined if it does not exist. */
function placeOf(root: JsonObject, reference: string): LocatedValue | undefined {
  if (reference === '#') return { value: root, pointer: '' };
  if (!reference.startsWith('#')) return undefined;
  if (!reference.startsWith('#/')) return anchorIn(root, reference.slice(1));
  const tokens = pathOf(uriDecoded(reference.slice(1)));
  const value = valueAt(root, tokens);
  if (!isObject(value) && typeof value !== 'boolean') return undefined;
  return { value, pointer: tokens.map((token) => `/${escapeToken(token)}`).join('') };
}

/** Finds the schema with an anchor. */
function anchorIn(root: JsonObject, anchor: string): LocatedValue | undefined {
  const schemas = valueAt(root, ['components', 'schemas']);
  for (const [name, value] of Object.entries(isObject(schemas) ? schemas : {})) {
    if (isObject(value) && (value.$anchor === anchor || value.$dynamicAnchor === anchor))
      return { value, pointer: `/components/schemas/${escapeToken(name)}` };
  }
  return undefined;
}

function freeName(taken: ReadonlyMap<string, unknown>, wanted: string): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${wanted}_${number}`;
  return name;
}
