// Copies a schema of a contract to a self-contained JSON Schema 2020-12. The references of the copy lead to its own `$defs`, and keywords
// of OpenAPI are removed. The document was normalized before (contract/schemas/dialect.ts), and contains neither `nullable` nor the forms
// of Swagger.

import { shortTextOf, wordSet } from '../../shared/text.ts';
import {
  escapeToken,
  follow,
  isRecord,
  type JsonObject,
  type LocatedValue,
  pathOf,
  uriDecoded,
  valueAt,
} from '../pointer.ts';

/** The direction, which decides whether read-only or write-only members are removed. */
type Direction = 'request' | 'answer';

interface LocalSchemaOptions {
  readonly direction: Direction;
  /** Longer descriptions are cut. */
  readonly descriptionCharactersMax: number;
  /** Whether bounds and formats are left out, as for answers, which are passed on even if they break the contract. */
  readonly loose?: boolean;
}

/** The values of these members are data, not schemas. */
const DATA_KEYWORDS = new Set(['enum', 'const', 'default', 'required', 'type']);
/** The author chooses the member names of these objects of a schema. */
const SCHEMA_MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs']);
/** Keywords that only OpenAPI has, or that serve only people who read a page. */
const DROPPED_KEYWORDS = wordSet(
  'xml externalDocs example examples discriminator contentMediaType $comment $schema $id $anchor $dynamicAnchor',
  '$vocabulary readOnly writeOnly',
);
/** The keywords that a loose copy leaves out: bounds and formats. Types, members and descriptions stay. */
const BOUND_KEYWORDS = wordSet(
  'required additionalProperties unevaluatedProperties unevaluatedItems patternProperties propertyNames minimum',
  'maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern format minItems maxItems',
  'uniqueItems contains minContains maxContains minProperties maxProperties enum const not if then else',
  'dependentRequired dependentSchemas default',
);
/** Members under a name that contract/schemas/dialect.ts adds for Ajv. */
const ADDED_PATTERNS = ['(?:__proto__)', '^__proto__$'];

/** The maximum depth of copies. Most keywords of a schema are copied without a check. */
const DEPTH_MAX = 200;

export class LocalSchemas {
  readonly #root: JsonObject;
  readonly #absent: 'readOnly' | 'writeOnly';
  readonly #descriptionCharactersMax: number;
  readonly #loose: boolean;
  /** The rules that the copies cannot express, each once. */
  readonly losses = new Set<string>();
  /** The copies by name, in a map, because authors choose the names. */
  readonly #copies = new Map<string, unknown>();
  /** Pointer → name of the definition. */
  readonly #names = new Map<string, string>();
  /** Definitions to copy. A chain of references may be longer than the stack. */
  readonly #due: (readonly [name: string, place: LocatedValue])[] = [];

  constructor(root: JsonObject, { direction, descriptionCharactersMax, loose = false }: LocalSchemaOptions) {
    this.#root = root;
    this.#absent = direction === 'request' ? 'readOnly' : 'writeOnly';
    this.#descriptionCharactersMax = descriptionCharactersMax;
    this.#loose = loose;
  }

  /** Returns a copy of a schema. References in it lead to the definitions. */
  copyOf(schema: unknown): unknown {
    return this.#copyAt(schema, 0);
  }

  /** Returns the definitions to which the copies refer; undefined if there are none. Call it after all copies are made. */
  definitions(): JsonObject | undefined {
    for (let next = this.#due.pop(); next !== undefined; next = this.#due.pop())
      this.#copies.set(next[0], this.copyOf(next[1].value));
    return this.#copies.size === 0 ? undefined : Object.fromEntries(this.#copies);
  }

  #copyAt(schema: unknown, depth: number): unknown {
    if (typeof schema === 'boolean') return schema;
    if (!isRecord(schema)) return {};
    if (depth > DEPTH_MAX) {
      this.losses.add(`schemas that are nested more than ${DEPTH_MAX} deep`);
      return {};
    }
    return Object.fromEntries(
      Object.entries(schema).flatMap(([name, value]) => {
        if (DROPPED_KEYWORDS.has(name) || name.startsWith('x-') || (this.#loose && BOUND_KEYWORDS.has(name))) return [];
        const kept = this.#keywordOf(name, value, depth);
        return kept === undefined ? [] : [[this.#loose && name === 'oneOf' ? 'anyOf' : name, kept]];
      }),
    );
  }

  #keywordOf(name: string, value: unknown, depth: number): unknown {
    if (name === '$ref') return this.#referenceTo(value);
    if (name === 'description')
      return typeof value === 'string' ? shortTextOf(value, this.#descriptionCharactersMax) : undefined;
    if (name === '$dynamicRef' || name === '$recursiveRef') {
      this.losses.add(`${name}, which allows anything here`);
      return undefined;
    }
    if (DATA_KEYWORDS.has(name)) return value;
    if (SCHEMA_MAPS.has(name)) return isRecord(value) ? this.#membersOf(name, value, depth) : undefined;
    if (Array.isArray(value)) return value.map((item) => (isRecord(item) ? this.#copyAt(item, depth + 1) : item));
    return isRecord(value) ? this.#copyAt(value, depth + 1) : value;
  }

  #membersOf(keyword: string, members: JsonObject, depth: number): JsonObject | undefined {
    const kept = Object.entries(members).filter(([name, schema]) => {
      if (keyword === 'patternProperties') return !ADDED_PATTERNS.includes(name);
      return keyword !== 'properties' || !this.#isAbsent(schema);
    });
    if (keyword === 'patternProperties' && kept.length === 0) return undefined;
    return Object.fromEntries(kept.map(([name, schema]) => [name, this.#copyAt(schema, depth + 1)]));
  }

  #isAbsent(schema: unknown): boolean {
    const { value } = follow(this.#root, { value: schema, pointer: '' });
    return (isRecord(schema) && schema[this.#absent] === true) || (isRecord(value) && value[this.#absent] === true);
  }

  /** Returns the reference to the definition with the copy of the referenced schema. */
  #referenceTo(reference: unknown): string | undefined {
    const place = typeof reference === 'string' ? placeOf(this.#root, reference) : undefined;
    if (place === undefined) {
      this.losses.add(`the reference ${shortTextOf(String(reference), 80)}, in whose place anything is allowed`);
      return undefined;
    }
    return `#/$defs/${encodeURIComponent(escapeToken(this.#define(place)))}`;
  }

  #define(place: LocatedValue): string {
    const known = this.#names.get(place.pointer);
    if (known !== undefined) return known;
    const name = freeName(this.#copies, pathOf(place.pointer).at(-1) ?? 'root');
    this.#names.set(place.pointer, name);
    this.#copies.set(name, undefined);
    this.#due.push([name, place]);
    return name;
  }
}

/** Returns the place to which a reference within the document leads; undefined if it does not exist. */
function placeOf(root: JsonObject, reference: string): LocatedValue | undefined {
  if (reference === '#') return { value: root, pointer: '' };
  if (!reference.startsWith('#')) return undefined;
  if (!reference.startsWith('#/')) return anchorIn(root, reference.slice(1));
  const tokens = pathOf(uriDecoded(reference.slice(1)));
  const value = valueAt(root, tokens);
  if (!isRecord(value) && typeof value !== 'boolean') return undefined;
  return { value, pointer: tokens.map((token) => `/${escapeToken(token)}`).join('') };
}

/** Finds the schema with an anchor. */
function anchorIn(root: JsonObject, anchor: string): LocatedValue | undefined {
  const schemas = valueAt(root, ['components', 'schemas']);
  for (const [name, value] of Object.entries(isRecord(schemas) ? schemas : {})) {
    if (isRecord(value) && (value.$anchor === anchor || value.$dynamicAnchor === anchor))
      return { value, pointer: `/components/schemas/${escapeToken(name)}` };
  }
  return undefined;
}

function freeName(taken: ReadonlyMap<string, unknown>, wanted: string): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${wanted}_${number}`;
  return name;
}
