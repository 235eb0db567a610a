// Objects and lists whose members are named by brackets: `filter[status]=open`, `filter[tags][]=a`, `items[0][id]=7`.

import { keysOfBrackets } from './brackets.ts';
import { toScalar, withoutReference } from './parameter.ts';
import { child, isObject, type JsonObject, type Located, member } from './pointer.ts';
import { formsOf, type Types, typesOf } from './value-types.ts';

/** The types that a schema allows at one place of a nested value. */
export interface NestedShape {
  readonly types: Types;
  member(name: string): NestedShape;
  item(): NestedShape;
}

/** Like `limits.jsonDepthMax`, since clients choose the depth. */
const DEPTH_MAX = 32;

/** Returns the shape of a schema. Shapes below it are made on first use; their number is bounded by the schema, not by clients. */
export function createShape(root: JsonObject, schemas: readonly Located[]): NestedShape {
  const known = new Map<string, NestedShape>();

  function shapeOf(forms: readonly Located[]): NestedShape {
    const key = forms.map(({ pointer }) => pointer).join(' ');
    const found = known.get(key);
    if (found) return found;
    const made: NestedShape = {
      types: typesOf(forms),
      member: (name) => shapeOf(forms.flatMap((form) => formsOf(root, memberSchema(root, form, name)))),
      item: () => shapeOf(forms.flatMap((form) => formsOf(root, child(form, 'items')))),
    };
    known.set(key, made);
    return made;
  }

  return shapeOf(schemas);
}

function memberSchema(root: JsonObject, form: Located, name: string): Located {
  const properties = member(root, form, 'properties');
  const isDeclared = isObject(properties.value) && Object.hasOwn(properties.value, name);
  return isDeclared ? child(properties, name) : child(form, 'additionalProperties');
}

/** Parses `[a][b]` into a, b; returns `undefined` for any other text and for more keys than a value may be deep. */
export function nestedKeysOf(brackets: string): string[] | undefined {
  const keys = keysOfBrackets(brackets);
  return keys === undefined || keys.length > DEPTH_MAX ? undefined : keys;
}

type Holder = Record<string | number, unknown>;

/** The positions of items by the numbers that the client gave them; numbers may have gaps. */
export type ItemPositions = Map<unknown[], Map<string, number>>;

/**
 * Stores one value below `holder[name]`. Empty or numeric keys denote items of a list, where the schema allows a list. Returns false if
 * there is a value already, or one of another kind.
 */
export function setNested(
  holder: object,
  name: string | number,
  keys: readonly string[],
  text: string,
  shape: NestedShape,
  positions: ItemPositions,
): boolean {
  const [key, ...rest] = keys;
  const { [name]: existing } = holder as Holder;
  const isItem =
    key === undefined
      ? shape.types.has('array') && !shape.types.has('string')
      : /^\d*$/.test(key) && (shape.types.has('array') || (key === '' && shape.types.size === 0));
  if (!isItem) {
    if (key !== undefined) {
      const object = existing ?? withoutReference();
      (holder as Holder)[name] = object;
      return isObject(object) && setNested(object, key, rest, text, shape.member(key), positions);
    }
    if (existing !== undefined) return false;
    (holder as Holder)[name] = toScalar(text, shape.types);
    return true;
  }
  const list = existing ?? [];
  (holder as Holder)[name] = list;
  return Array.isArray(list) && setItem(list, key ?? '', rest, text, shape.item(), positions);
}

/** An empty key denotes a new item, or the last one while it lacks the member (as in Rails and PHP); a number denotes its own item. */
function setItem(
  list: unknown[],
  key: string,
  rest: readonly string[],
  text: string,
  shape: NestedShape,
  positions: ItemPositions,
): boolean {
  if (key === '') {
    const isPartOfLast = rest.length > 0 && list.length > 0;
    if (isPartOfLast && setNested(list, list.length - 1, rest, text, shape, positions)) return true;
    return setNested(list, list.length, rest, text, shape, positions);
  }
  const known = positions.get(list) ?? new Map<string, number>();
  positions.set(list, known);
  const position = known.get(key) ?? list.length;
  known.set(key, position);
  return setNested(list, position, rest, text, shape, positions);
}
