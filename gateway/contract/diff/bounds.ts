// The bounds of numbers, lengths and counts in a normalized schema.

import type { JsonObject } from '../pointer.ts';

export interface Bound {
  readonly value: number;
  readonly exclusive: boolean;
}

/** The bounds by keyword. Inclusive and exclusive bounds of numbers share one entry. */
export type Bounds = Map<string, Bound>;

const LOWER = ['minLength', 'minItems', 'minProperties'];
const UPPER = ['maxLength', 'maxItems', 'maxProperties'];

/** Adds the bounds of another schema that also has to hold. */
export function addBounds(bounds: Bounds, schema: JsonObject): void {
  const given: [name: string, value: unknown, exclusive: boolean, isLower: boolean][] = [
    ['minimum', schema.minimum, false, true],
    ['minimum', schema.exclusiveMinimum, true, true],
    ['maximum', schema.maximum, false, false],
    ['maximum', schema.exclusiveMaximum, true, false],
    ...LOWER.map((name): [string, unknown, boolean, boolean] => [name, schema[name], false, true]),
    ...UPPER.map((name): [string, unknown, boolean, boolean] => [name, schema[name], false, false]),
  ];
  for (const [name, value, exclusive, isLower] of given) {
    // A lower bound of 0 on a length or count constrains nothing.
    if (typeof value !== 'number' || (value === 0 && LOWER.includes(name))) continue;
    const before = bounds.get(name);
    if (before === undefined || isTighter({ value, exclusive }, before, isLower))
      bounds.set(name, { value, exclusive });
  }
}

export function isTighter(one: Bound, other: Bound, isLower: boolean): boolean {
  if (one.value === other.value) return one.exclusive && !other.exclusive;
  return isLower ? one.value > other.value : one.value < other.value;
}

/** Makes exclusive bounds of integers inclusive. */
export function settleIntegers(bounds: Bounds): void {
  for (const [name, { value, exclusive }] of bounds) {
    if (exclusive && Number.isInteger(value) && (name === 'minimum' || name === 'maximum'))
      bounds.set(name, { value: value + (name === 'minimum' ? 1 : -1), exclusive: false });
  }
}
