// Finds the place of a form's field in the value that the schema describes. For example, `address[lines][0]` is /address/lines/0.

import { keysOfBrackets } from '../parameters/form-text.ts';
import type { ValueShape } from '../parameters/value-shape.ts';
import { encodingFor, type PropertyEncoding } from './form-encoding.ts';

export interface FormPlace {
  readonly keys: readonly string[];
  /**
   * The shape of the value at the end; undefined if the contract does not describe it. It is the shape of a list if a name without brackets
   * means a list.
   */
  readonly shape: ValueShape | undefined;
  readonly encoding: PropertyEncoding;
  /** Whether the brackets cannot be read. */
  readonly isBroken: boolean;
}

export type FindPlace = (name: string) => FormPlace;

// biome-ignore lint/suspicious/noControlCharactersInRegex: PHP ends names at NUL
const UNCLEAR_NAME = /^ |[\0-\x1f\x7f]/;

/** Prepares finding places in forms of one shape. */
export function createFindPlace(
  root: ValueShape,
  encodings: ReadonlyMap<string, PropertyEncoding>,
  properties: readonly string[],
): FindPlace {
  const spread = properties.filter(
    (name) => encodingFor(encodings, name).isSpread && root.property(name)?.types.has('object'),
  );

  return function placeOf(name) {
    const isBroken = UNCLEAR_NAME.test(name);
    const shape = root.property(name);
    if (shape !== undefined) return { keys: [name], shape, encoding: encodingFor(encodings, name), isBroken };
    const bracket = name.indexOf('[');
    const base = bracket > 0 ? name.slice(0, bracket) : '';
    const baseShape = base === '' ? undefined : root.member(base);
    if (baseShape !== undefined) {
      const keys = keysOfBrackets(name.slice(bracket)) ?? [];
      const encoding = encodingFor(encodings, base);
      return {
        keys: [base, ...keys],
        shape: below(baseShape, keys),
        encoding,
        isBroken: isBroken || keys.length === 0,
      };
    }
    const owner = spread.find((property) => root.property(property)?.member(name) !== undefined);
    if (owner !== undefined) {
      const encoding = encodingFor(encodings, '');
      return { keys: [owner, name], shape: root.property(owner)?.member(name), encoding, isBroken };
    }
    return { keys: [name], shape: root.member(name), encoding: encodingFor(encodings, name), isBroken };
  };
}

function below(base: ValueShape, keys: readonly string[]): ValueShape | undefined {
  let shape: ValueShape | undefined = base;
  for (const key of keys) {
    if (shape === undefined) return undefined;
    shape = isItemKey(shape, key) ? shape.items() : shape.member(key);
  }
  return shape;
}

/** Whether a key in brackets denotes an item of a list. */
export function isItemKey(shape: ValueShape | undefined, key: string): boolean {
  if (key === '') return true;
  return /^\d+$/.test(key) && shape?.types.has('array') === true && !shape.types.has('object');
}
