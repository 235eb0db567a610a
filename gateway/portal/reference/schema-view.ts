// Converts a schema to a tree of bounded size for pages, with type, rules, members and choices.

import { isRecord } from '../../shared/is-record.ts';
import { shorten } from '../html.ts';
import { patternWords } from '../pattern-words.ts';
import { DEPTH_MAX, FlatSchemas } from './flat-schemas.ts';
import { type DocumentObject, type DocumentTools, listOf, membersOf, textAt } from './reference.ts';

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

/** The largest number of schemas of one operation. A page with more would open slowly. */
const VIEWS_MAX = 1200;
const VALUES_MAX = 60;
const TEXT_MAX = 120;

type Purpose = 'request' | 'answer';

/** Returns the view of one operation's schemas. All calls together yield at most 1,200 nested views. */
export function createSchemaViews(root: DocumentObject, { resolve }: Pick<DocumentTools, 'resolve'>) {
  let left = VIEWS_MAX;
  const flats = new FlatSchemas(root, { resolve });

  return function viewOf(schema: unknown, purpose: Purpose): SchemaView {
    return view(schema, purpose, []);
  };

  function view(schema: unknown, purpose: Purpose, above: readonly unknown[]): SchemaView {
    const reference = componentName(schema);
    const target = resolve(root, schema);
    const flat = flats.flatten(schema);
    const type = flats.typeOf(flat);
    const base = {
      type,
      description: textAt(flat, 'description'),
      rules: rulesOf(flat),
      values: valuesOf(flat),
      isDeprecated: flat.deprecated === true,
    };
    const nested = flats.hasContent(flat);
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
      if (left <= 0 || flats.flatten(schema)[hidden] === true) return [];
      return [{ name, isRequired: required.has(name), schema: view(schema, purpose, above) }];
    });
    // An array shows the members of its items.
    const items = flat.items;
    const ofItems = isRecord(items) && left > 0 ? view(items, purpose, above) : undefined;
    const others = isRecord(flat.additionalProperties) && left > 0 ? flat.additionalProperties : undefined;
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
    const real = all.filter((one) => flats.flatten(one).type !== 'null');
    return real.filter((one) => flats.hasContent(flats.flatten(one)) || real.length > 1).slice(0, VALUES_MAX);
  }
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
