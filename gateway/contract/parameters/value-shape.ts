// Prepares a schema for the reading of queries and forms with bracketed names. A shape consists of the types of a value, its members, and
// bounds of files.

import { isJson } from '../media-types.ts';
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
import { toPattern } from '../scalars/patterns.ts';
import { formsOf, type Types, typesOf } from './value-types.ts';

/** One member, with all schemas that may describe it. */
export interface ValueShape {
  /** JSON types; empty if the schema names none. */
  readonly types: Types;
  /** Whether the schema describes bytes instead of text. */
  readonly isBinary: boolean;
  /** Whether the schema says which texts fit, so that the text must be read even in a part with a file name. */
  readonly isTextChecked: boolean;
  /** The format of texts that the schema names. Tools also name the format of the value that a file becomes, such as its address. */
  readonly format: string | undefined;
  /** Bounds of a file, in bytes. */
  readonly bytesMin: number;
  readonly bytesMax: number;
  /** Media type that the schema of a file names. */
  readonly contentMediaType: string | undefined;
  /** Returns the shape of the items of a list. */
  items(): ValueShape;
  /** Names in `properties`. */
  readonly propertyNames: readonly string[];
  /** Returns the shape of a member that `properties` declares. */
  property(name: string): ValueShape | undefined;
  /** Returns the shape of a member that `properties`, `patternProperties` or `additionalProperties` describes. */
  member(name: string): ValueShape | undefined;
}

/** Bytes without a more precise schema are often declared as this type (FastAPI does so), which includes every other type. */
const ANY_BYTES = 'application/octet-stream';
const DEPTH_MAX = 8;

export type ShapeOf = (schemas: readonly LocatedValue[]) => ValueShape;

/** Creates the shapes of a document. Each shape is made once, when a request first needs it, because schemas may be circular. */
export function createValueShapes(root: JsonObject): ShapeOf {
  const made = new Map<string, ValueShape>();

  function shapeOf(schemas: readonly LocatedValue[]): ValueShape {
    const key = schemas.map(({ pointer }) => pointer).join('\n');
    const known = made.get(key);
    if (known) return known;
    const shape = toShape(root, schemas, shapeOf);
    made.set(key, shape);
    return shape;
  }

  return shapeOf;
}

function toShape(
  root: JsonObject,
  schemas: readonly LocatedValue[],
  shapeOf: (schemas: readonly LocatedValue[]) => ValueShape,
): ValueShape {
  const forms = schemas.flatMap((schema) => formsOf(root, schema));
  const keywords = forms.map(({ value }) => value as JsonObject);
  const properties = new Map<string, ValueShape | undefined>();
  const members = new Map<string, ValueShape | undefined>();
  const patterns = forms.flatMap((form) => patternsOf(root, form));
  const mediaType = keywords.map(({ contentMediaType: type }) => type).find((type) => typeof type === 'string');
  let items: ValueShape | undefined;

  const combineShapes = (found: readonly LocatedValue[]) => {
    const useful = found.filter(({ value }) => isRecord(value) && Object.keys(value).length > 0);
    return useful.length === 0 ? undefined : shapeOf(useful);
  };
  const property = (name: string) =>
    remember(properties, name, () => combineShapes(forms.map((form) => own(member(root, form, 'properties'), name))));
  const fromOthers = (name: string) =>
    combineShapes([
      ...patterns.flatMap(({ matches, schema }) => (matches(name) ? schema : [])),
      ...forms.map((form) => child(form, 'additionalProperties')),
    ]);

  return {
    types: typesOf(forms),
    isBinary: keywords.some(isBinarySchema),
    isTextChecked: keywords.some(
      ({ pattern, enum: values, const: value }) => (pattern ?? values ?? value) !== undefined,
    ),
    format: keywords.map(({ format }) => format).find((format) => typeof format === 'string' && format !== 'binary') as
      | string
      | undefined,
    propertyNames: [...new Set(forms.flatMap((form) => memberNames(member(root, form, 'properties'))))],
    ...byteBounds(root, schemas),
    contentMediaType: mediaType === ANY_BYTES ? undefined : (mediaType as string | undefined),
    items: () => (items ??= combineShapes(forms.map((form) => child(form, 'items'))) ?? shapeOf([])),
    property,
    // Shapes of undeclared members are not cached, because the client chooses their names, so they could fill the memory.
    member: (name) =>
      property(name) ?? (patterns.length === 0 ? remember(members, '', () => fromOthers('')) : fromOthers(name)),
  };
}

function remember<Value>(known: Map<string, Value>, name: string, make: () => Value): Value {
  if (known.has(name)) return known.get(name) as Value;
  const value = make();
  if (value !== undefined || name === '') known.set(name, value);
  return value;
}

/**
 * Returns an own member of the object. Inherited members must not be found, because the client chooses the name, which may be
 * `constructor`.
 */
function own(located: LocatedValue, name: string): LocatedValue {
  const { value, pointer } = located;
  return isRecord(value) && Object.hasOwn(value, name) ? child(located, name) : { value: undefined, pointer };
}

function patternsOf(root: JsonObject, form: LocatedValue) {
  const declared = member(root, form, 'patternProperties');
  return memberNames(declared).map((source) => {
    const pattern = toPattern(source);
    return { matches: (name: string) => pattern.test(name), schema: child(declared, source) };
  });
}

function isBinarySchema({ format, contentMediaType, contentEncoding }: JsonObject): boolean {
  if (format === 'binary') return true;
  return typeof contentMediaType === 'string' && contentEncoding === undefined && !isJson(contentMediaType);
}

/** Returns the bounds of a length. All bounds in `allOf` apply, and the widest branch of a union. */
function byteBounds(root: JsonObject, schemas: readonly LocatedValue[]): Pick<ValueShape, 'bytesMin' | 'bytesMax'> {
  const bounds = schemas.map((schema) => boundsOf(root, schema, 0));
  if (bounds.length === 0) return { bytesMin: 0, bytesMax: Number.POSITIVE_INFINITY };
  return {
    bytesMin: Math.min(...bounds.map(([min]) => min)),
    bytesMax: Math.max(...bounds.map(([, max]) => max)),
  };
}

function boundsOf(root: JsonObject, located: LocatedValue, depth: number): readonly [min: number, max: number] {
  const { value } = located;
  if (!isRecord(value) || depth > DEPTH_MAX) return [0, Number.POSITIVE_INFINITY];
  const { minLength, maxLength, $ref } = value;
  const parts = [...($ref === undefined ? [] : [follow(root, located)]), ...itemsOf(child(located, 'allOf'))];
  const required = parts.map((part) => boundsOf(root, part, depth + 1));
  for (const union of ['anyOf', 'oneOf']) {
    const branches = itemsOf(child(located, union)).filter((branch) => admitsText(root, branch));
    const bounds = branches.map((branch) => boundsOf(root, branch, depth + 1));
    if (bounds.length > 0) required.push([Math.min(...bounds.map(([a]) => a)), Math.max(...bounds.map(([, b]) => b))]);
  }
  return [
    Math.max(typeof minLength === 'number' ? minLength : 0, ...required.map(([min]) => min)),
    Math.min(typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY, ...required.map(([, max]) => max)),
  ];
}

function admitsText(root: JsonObject, branch: LocatedValue): boolean {
  const types = typesOf(formsOf(root, branch));
  return types.size === 0 || types.has('string');
}
