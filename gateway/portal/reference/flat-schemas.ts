// Reads the schemas of one document with the keywords of their references and of their `allOf`, and tells their types.

import { isRecord } from '../../shared/is-record.ts';
import { shorten } from '../html.ts';
import { type DocumentObject, type DocumentTools, listOf, membersOf, textAt } from './reference.ts';

/** Maximum depth of a schema. */
export const DEPTH_MAX = 8;
/** Maximum number of schemas that are read for one tree, including schemas that are combined into one. */
const LOOKS_MAX = 40_000;
const PARTS_MAX = 60;

export class FlatSchemas {
  readonly #root: DocumentObject;
  readonly #resolve: DocumentTools['resolve'];
  readonly #flats = new Map<unknown, DocumentObject>();
  #looks = LOOKS_MAX;

  constructor(root: DocumentObject, { resolve }: Pick<DocumentTools, 'resolve'>) {
    this.#root = root;
    this.#resolve = resolve;
  }

  /** Returns a schema with the keywords of its reference and of its `allOf`. Its own keywords have priority. */
  flatten(schema: unknown, depth = 0): DocumentObject {
    const known = this.#flats.get(schema);
    if (known !== undefined) return known;
    const flat = this.#combineSchemas(schema, depth);
    if (depth === 0) this.#flats.set(schema, flat);
    return flat;
  }

  /** Whether a schema has members or alternatives. */
  hasContent(flat: DocumentObject, depth = 0): boolean {
    if (membersOf(flat.properties).length > 0 || isRecord(flat.additionalProperties)) return true;
    if (isRecord(flat.items) && depth < DEPTH_MAX) return this.hasContent(this.flatten(flat.items), depth + 1);
    const all = [...listOf(flat.oneOf), ...listOf(flat.anyOf)];
    return all.filter((one) => !this.#isNull(one)).length > 1;
  }

  /** Returns the type as a page shows it, such as `array of strings`. */
  typeOf(flat: DocumentObject, depth = 0): string {
    const types = [flat.type].flat().filter((type) => typeof type === 'string');
    const real = types.filter((type) => type !== 'null').map((type) => this.#describedType(String(type), flat, depth));
    const unions = [...listOf(flat.oneOf), ...listOf(flat.anyOf)].filter((one) => !this.#isNull(one));
    const guess = guessedType(flat);
    const guessed = real.length > 0 || unions.length > 1 ? real : [this.#describedType(guess, flat, depth)];
    const shown = guessed.length > 0 ? guessed.join(' or ') : 'one of several forms';
    const nullable = types.includes('null') || flat.orNull === true;
    return nullable && shown !== 'any value' ? `${shown} or null` : shown;
  }

  #describedType(type: string, flat: DocumentObject, depth: number): string {
    if (type === 'array' && isRecord(flat.items) && depth < DEPTH_MAX) {
      const inner = this.typeOf(this.flatten(flat.items), depth + 1);
      return `array of ${pluralOf(inner)}`;
    }
    if (type === 'array') return 'array of any values';
    const format = textAt(flat, 'format');
    if (type === 'string' && isBinary(flat)) return 'bytes';
    return format === '' ? type : `${type} (${shorten(format, 40)})`;
  }

  #combineSchemas(schema: unknown, depth: number): DocumentObject {
    this.#looks -= 1;
    const target = this.#resolve(this.#root, schema);
    const own = { ...(isRecord(target) ? target : {}), ...(isRecord(schema) ? schema : {}) };
    const parts = [...listOf(own.allOf), ...this.#soleAlternative(own, depth)];
    if (parts.length === 0 || depth >= DEPTH_MAX || this.#looks <= 0) return own;
    const merged: DocumentObject = {};
    for (const part of parts.slice(0, PARTS_MAX)) addKeywords(merged, this.flatten(part, depth + 1));
    addKeywords(merged, own);
    return merged;
  }

  /** A union of one schema and `null` reads like the schema itself. */
  #soleAlternative(own: DocumentObject, depth: number): unknown[] {
    const all = [...listOf(own.oneOf), ...listOf(own.anyOf)];
    if (all.length === 0 || all.length > 2 || depth >= DEPTH_MAX) return [];
    const real = all.filter((one) => !this.#isNull(one));
    return real.length === 1 ? [...real, ...(all.length === 2 ? [{ orNull: true }] : [])] : [];
  }

  #isNull(schema: unknown): boolean {
    const target = this.#resolve(this.#root, schema);
    return isRecord(target) && target.type === 'null';
  }
}

/** Whether a value is bytes. OpenAPI 3.0 declares this by a format, and 3.1 by a media type without an encoding, as FastAPI does. */
function isBinary({ format, contentMediaType, contentEncoding }: DocumentObject): boolean {
  if (format === 'binary') return true;
  return typeof contentMediaType === 'string' && contentEncoding === undefined && !contentMediaType.includes('json');
}

/** Returns the plural of a type: `strings (date)` for `string (date)`, `arrays of strings` for `array of strings`. */
function pluralOf(type: string): string {
  if (type === 'one of several forms') return 'several forms';
  return type.replace(/^(object|string|integer|number|boolean|array|any value)\b/, '$1s');
}

function guessedType(flat: DocumentObject): string {
  if (flat.properties !== undefined || flat.additionalProperties !== undefined) return 'object';
  if (flat.items !== undefined) return 'array';
  const values = [...listOf(flat.enum), ...(flat.const === undefined ? [] : [flat.const])];
  const kinds = new Set(values.filter((value) => value !== null).map((value) => typeof value));
  return kinds.size === 1 ? String([...kinds][0]) : 'any value';
}

/** Adds the keywords of a part. `properties` and `required` are combined; other keywords replace former ones. */
function addKeywords(merged: DocumentObject, part: DocumentObject): void {
  const { properties, required } = merged;
  Object.assign(merged, part);
  if (isRecord(properties) && isRecord(part.properties)) merged.properties = { ...properties, ...part.properties };
  if (Array.isArray(required) && Array.isArray(part.required))
    merged.required = [...new Set([...required, ...part.required])];
}
