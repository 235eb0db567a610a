// Converts a schema to a tree of bounded size for pages, with type, rules, members and choices.

import { shorten } from '../html.ts';
import { patternWords } from '../pattern-words.ts';
import { type DocumentObject, type DocumentTools, isDocumentObject, listOf, membersOf, textAt } from './reference.ts';

export interface SchemaView {
  /** `string`, `array of Customer objects`, `integer or null` */
  readonly type: string;
  /** Markdown. */
  readonly description: string;
  /** Rules such as `at most 100 characters`. */
  readonly rules: readonly string[];
  /** The values of an enumeration, as JSON or text. */
  readonly values: readonly string[];
  readonly members: readonly MemberView[];
  /** Alternatives. One or more of them apply. */
  readonly choices: readonly { readonly label: string; readonly schema: SchemaView }[];
  readonly isDeprecated: boolean;
  /** Why members are not shown. */
  readonly cut: string | undefined;
}

export interface MemberView {
  readonly name: string;
  readonly isRequired: boolean;
  readonly schema: SchemaView;
}

const DEPTH_MAX = 8;
/** The largest number of schemas of one operation. A page with more would open slowly. */
const VIEWS_MAX = 1200;
/** Maximum number of schemas that are read for one tree, including schemas that are combined into one. */
const LOOKS_MAX = 40_000;
const VALUES_MAX = 60;
const TEXT_MAX = 120;

type Purpose = 'request' | 'answer';

/** Returns the view of one operation's schemas. All calls together yield at most 1,200 nested views. */
export function createSchemaViews(root: DocumentObject, { resolve }: Pick<DocumentTools, 'resolve'>) {
  let left = VIEWS_MAX;
  let looks = LOOKS_MAX;
  const flats = new Map<unknown, DocumentObject>();

  return function viewOf(schema: unknown, purpose: Purpose): SchemaView {
    return view(schema, purpose, []);
  };

  function view(schema: unknown, purpose: Purpose, above: readonly unknown[]): SchemaView {
    const reference = componentName(schema);
    const target = resolve(root, schema);
    const flat = flatten(schema, 0);
    const type = typeOf(flat);
    const base = {
      type,
      description: textAt(flat, 'description'),
      rules: rulesOf(flat),
      values: valuesOf(flat),
      isDeprecated: flat.deprecated === true,
    };
    const nested = hasContent(flat);
    const cut = nested ? reasonToCut(target, reference, above) : undefined;
    left -= 1;
    if (!nested || cut !== undefined) return { ...base, members: [], choices: [], cut };
    const inside = [...above, target];
    return { ...base, members: membersIn(flat, purpose, inside), choices: choicesIn(flat, purpose, inside), cut };
  }

  function reasonToCut(target: unknown, reference: string, above: readonly unknown[]): string | undefined {
    if (above.includes(target)) return `The same fields as ${reference || 'above'}, which it is part of.`;
    if (above.length >= DEPTH_MAX || left <= 0) return 'The OpenAPI document has its other fields.';
    return undefined;
  }

  function membersIn(flat: DocumentObject, purpose: Purpose, above: readonly unknown[]): MemberView[] {
    const required = new Set(listOf(flat.required).map(String));
    const hidden = purpose === 'request' ? 'readOnly' : 'writeOnly';
    const named = membersOf(flat.properties).flatMap(([name, schema]): MemberView[] => {
      if (left <= 0 || flatten(schema, 0)[hidden] === true) return [];
      return [{ name, isRequired: required.has(name), schema: view(schema, purpose, above) }];
    });
    // An array shows the members of its items.
    const items = flat.items;
    const ofItems = isDocumentObject(items) && left > 0 ? view(items, purpose, above) : undefined;
    const others = isDocumentObject(flat.additionalProperties) && left > 0 ? flat.additionalProperties : undefined;
    return [
      ...named,
      ...(ofItems?.members ?? []),
      ...(ofItems !== undefined && ofItems.choices.length > 0
        ? [{ name: 'each item', isRequired: false, schema: ofItems }]
        : []),
      ...(others ? [{ name: 'any other name', isRequired: false, schema: view(others, purpose, above) }] : []),
    ];
  }

  function choicesIn(flat: DocumentObject, purpose: Purpose, above: readonly unknown[]): SchemaView['choices'] {
    return alternativesOf(flat).flatMap((schema, index) => {
      if (left <= 0) return [];
      const found = view(schema, purpose, above);
      const label = componentName(schema) || textAt(schema, 'title') || `Form ${index + 1}: ${found.type}`;
      return [{ label: shorten(label, TEXT_MAX), schema: found }];
    });
  }

  /** Returns the alternatives of a union, without `null`, which the type shows. */
  function alternativesOf(flat: DocumentObject): unknown[] {
    const all = [...listOf(flat.oneOf), ...listOf(flat.anyOf)];
    const real = all.filter((one) => flatten(one, 0).type !== 'null');
    return real.filter((one) => hasContent(flatten(one, 0)) || real.length > 1).slice(0, VALUES_MAX);
  }

  /** Returns a schema with the keywords of its reference and of its `allOf`. Its own keywords have priority. */
  function flatten(schema: unknown, depth: number): DocumentObject {
    const known = flats.get(schema);
    if (known !== undefined) return known;
    const flat = combineSchemas(schema, depth);
    if (depth === 0) flats.set(schema, flat);
    return flat;
  }

  function combineSchemas(schema: unknown, depth: number): DocumentObject {
    looks -= 1;
    const target = resolve(root, schema);
    const own = { ...(isDocumentObject(target) ? target : {}), ...(isDocumentObject(schema) ? schema : {}) };
    const parts = [...listOf(own.allOf), ...soleAlternative(own, depth)];
    if (parts.length === 0 || depth >= DEPTH_MAX || looks <= 0) return own;
    const merged: DocumentObject = {};
    for (const part of parts.slice(0, VALUES_MAX)) addKeywords(merged, flatten(part, depth + 1));
    addKeywords(merged, own);
    return merged;
  }

  /** A union of one schema and `null` reads like the schema itself. */
  function soleAlternative(own: DocumentObject, depth: number): unknown[] {
    const all = [...listOf(own.oneOf), ...listOf(own.anyOf)];
    if (all.length === 0 || all.length > 2 || depth >= DEPTH_MAX) return [];
    const real = all.filter((one) => !isNull(one));
    return real.length === 1 ? [...real, ...(all.length === 2 ? [{ orNull: true }] : [])] : [];
  }

  function isNull(schema: unknown): boolean {
    const target = resolve(root, schema);
    return isDocumentObject(target) && target.type === 'null';
  }

  function hasContent(flat: DocumentObject, depth = 0): boolean {
    if (membersOf(flat.properties).length > 0 || isDocumentObject(flat.additionalProperties)) return true;
    if (isDocumentObject(flat.items) && depth < DEPTH_MAX) return hasContent(flatten(flat.items, 0), depth + 1);
    const all = [...listOf(flat.oneOf), ...listOf(flat.anyOf)];
    return all.filter((one) => !isNull(one)).length > 1;
  }

  function typeOf(flat: DocumentObject, depth = 0): string {
    const types = [flat.type].flat().filter((type) => typeof type === 'string');
    const real = types.filter((type) => type !== 'null').map((type) => describedType(String(type), flat, depth));
    const unions = [...listOf(flat.oneOf), ...listOf(flat.anyOf)].filter((one) => !isNull(one));
    const guess = guessedType(flat);
    const guessed = real.length > 0 || unions.length > 1 ? real : [describedType(guess, flat, depth)];
    const shown = guessed.length > 0 ? guessed.join(' or ') : 'one of several forms';
    const nullable = types.includes('null') || flat.orNull === true;
    return nullable && shown !== 'any value' ? `${shown} or null` : shown;
  }

  function describedType(type: string, flat: DocumentObject, depth: number): string {
    if (type === 'array' && isDocumentObject(flat.items) && depth < DEPTH_MAX) {
      const inner = typeOf(flatten(flat.items, 0), depth + 1);
      return `array of ${pluralOf(inner)}`;
    }
    if (type === 'array') return 'array of any values';
    const format = textAt(flat, 'format');
    if (type === 'string' && isBinary(flat)) return 'bytes';
    return format === '' ? type : `${type} (${shorten(format, 40)})`;
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
  if (isDocumentObject(properties) && isDocumentObject(part.properties))
    merged.properties = { ...properties, ...part.properties };
  if (Array.isArray(required) && Array.isArray(part.required))
    merged.required = [...new Set([...required, ...part.required])];
}

/** Returns the name of the component to which a schema refers. */
export function componentName(schema: unknown): string {
  const [, name = ''] = /\/([^/]+)$/.exec(textAt(schema, '$ref')) ?? [];
  return shorten(name.replace(/~1/g, '/').replace(/~0/g, '~'), TEXT_MAX);
}

/** Returns a value as text for a page: a text unchanged, other values as JSON. */
function valueText(value: unknown): string {
  return shorten(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), TEXT_MAX);
}

function valuesOf(flat: DocumentObject): string[] {
  if (flat.const !== undefined) return [valueText(flat.const)];
  const all = listOf(flat.enum);
  const shown = all.slice(0, VALUES_MAX).map(valueText);
  return all.length > VALUES_MAX ? [...shown, `… and ${all.length - VALUES_MAX} more`] : shown;
}

const CONSTRAINT_PHRASES: readonly (readonly [keyword: string, phrase: (value: string) => string])[] = [
  ['minimum', (value) => `at least ${value}`],
  ['exclusiveMinimum', (value) => `more than ${value}`],
  ['maximum', (value) => `at most ${value}`],
  ['exclusiveMaximum', (value) => `less than ${value}`],
  ['multipleOf', (value) => `a multiple of ${value}`],
  ['minLength', (value) => `at least ${countText(value, 'character')}`],
  ['maxLength', (value) => `at most ${countText(value, 'character')}`],
  ['minItems', (value) => `at least ${countText(value, 'item')}`],
  ['maxItems', (value) => `at most ${countText(value, 'item')}`],
  ['minProperties', (value) => `at least ${countText(value, 'field')}`],
  ['maxProperties', (value) => `at most ${countText(value, 'field')}`],
  ['pattern', formOf],
  ['default', (value) => `default ${value === '' ? '""' : value}`],
];

function rulesOf(flat: DocumentObject): string[] {
  const rules = CONSTRAINT_PHRASES.flatMap(([keyword, phrase]) =>
    flat[keyword] === undefined ? [] : [phrase(valueText(flat[keyword]))],
  );
  if (flat.uniqueItems === true) rules.push('no item twice');
  return rules;
}

/** Returns a pattern in words if they express it; otherwise the pattern itself. */
function formOf(pattern: string): string {
  const words = patternWords(pattern);
  return words === undefined ? `matches ${pattern}` : `form: ${words}`;
}

function countText(value: string, what: string): string {
  return `${value} ${what}${value === '1' ? '' : 's'}`;
}
