// Builds objects and lists from queries whose names have brackets: `filter[status]=open`, `filter[tags][]=a`, `items[0][id]=7`.
// contract/forms/form-value.ts builds the values of forms by stricter rules: item numbers rise, a list keeps one spelling, `a[][b]` is
// refused, and values may be files or JSON. Clients use looser spellings in queries, so the two files are separate. value-shape.ts reads
// schemas for both.

import { isRecord } from '../../shared/is-record.ts';
import { keysOfBrackets } from './form-text.ts';
import { toScalar, withoutReference } from './parameter.ts';
import type { ValueShape } from './value-shape.ts';
import type { Types } from './value-types.ts';

/** Like `limits.jsonDepthMax`, since clients choose the depth. */
const DEPTH_MAX = 32;

/** Parses `[a][b]` into a, b; returns undefined for any other text and for more keys than a value may be deep. */
export function nestedKeysOf(brackets: string): string[] | undefined {
  const keys = keysOfBrackets(brackets);
  return keys === undefined || keys.length > DEPTH_MAX ? undefined : keys;
}

const anyType: Types = new Set();

type Holder = Record<string | number, unknown>;

/** The positions of items by the numbers that the client gave them; numbers may have gaps. */
export type ItemPositions = Map<unknown[], Map<string, number>>;

/**
 * Stores one value below `holder[name]`. Empty or numeric keys denote items of a list, where the schema allows a list. Returns false if
 * there is a value already, or a value of another kind.
 */
export function setNested(
  holder: object,
  name: string | number,
  keys: readonly string[],
  text: string,
  shape: ValueShape | undefined,
  positions: ItemPositions,
): boolean {
  const [key, ...rest] = keys;
  const { [name]: existing } = holder as Holder;
  const types = shape?.types ?? anyType;
  const isItem =
    key === undefined
      ? types.has('array') && !types.has('string')
      : /^\d*$/.test(key) && (types.has('array') || (key === '' && types.size === 0));
  if (!isItem) {
    if (key !== undefined) {
      const object = existing ?? withoutReference();
      (holder as Holder)[name] = object;
      return isRecord(object) && setNested(object, key, rest, text, shape?.member(key), positions);
    }
    if (existing !== undefined) return false;
    (holder as Holder)[name] = toScalar(text, types);
    return true;
  }
  const list = existing ?? [];
  (holder as Holder)[name] = list;
  return Array.isArray(list) && setItem(list, key ?? '', rest, text, shape?.items(), positions);
}

/** An empty key denotes a new item, or the last item while it lacks the member (as in Rails). A number denotes its own item. */
function setItem(
  list: unknown[],
  key: string,
  rest: readonly string[],
  text: string,
  shape: ValueShape | undefined,
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
