// The kinds of value that are made of others: records with named members, lists, and the two free-form objects.
import {
  currency,
  type FieldKind,
  type FieldSpot,
  type FieldValue,
  FLAG,
  integer,
  refuse,
  text,
  withinBounds,
} from './kinds.ts';

const NESTING_MAX = 32;

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object with these members; one that is left out, or null, is stored as null unless it is needed. */
export function shape(members: Readonly<Record<string, FieldKind>>, needed: readonly string[] = []): FieldKind {
  return {
    read(value, spot) {
      if (!isJsonObject(value)) return refuse(spot, 'wrong_type', 'Must be an object.', { type: 'object' });
      refuseStrangers(value, members, spot);
      const stored = Object.entries(members).map(([name, kind]): [string, FieldValue] => {
        const member = value[name];
        if (member !== undefined && (member !== null || needed.includes(name))) {
          return [name, kind.read(member, withinBounds(spot, name)) ?? null];
        }
        if (needed.includes(name)) refuse(withinBounds(spot, name), 'required', 'Is required.');
        return [name, null];
      });
      return Object.fromEntries(stored);
    },
  };
}

/** Truth values under these names. One that is left out stays out: it is not decided. */
export function flags(names: readonly string[]): FieldKind {
  const members = Object.fromEntries(names.map((name) => [name, FLAG]));
  return {
    read(value, spot) {
      if (!isJsonObject(value)) return refuse(spot, 'wrong_type', 'Must be an object.', { type: 'object' });
      refuseStrangers(value, members, spot);
      const given = names.filter((name) => value[name] !== undefined);
      return Object.fromEntries(given.map((name) => [name, FLAG.read(value[name], withinBounds(spot, name)) ?? null]));
    },
  };
}

function refuseStrangers(value: object, members: object, spot: FieldSpot): void {
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(members, name)) refuse(withinBounds(spot, name), 'unknown', 'Is not a member of the contract.');
  }
}

export function list(item: FieldKind, bounds: { min?: number; max: number; unique?: true }): FieldKind {
  const { min = 0, max, unique = false } = bounds;
  return {
    read(value, spot) {
      if (!Array.isArray(value)) return refuse(spot, 'wrong_type', 'Must be an array.', { type: 'array' });
      if (value.length < min)
        return refuse(spot, 'too_few_items', `Must have at least ${min} items.`, { minItems: min });
      if (value.length > max)
        return refuse(spot, 'too_many_items', `Must have at most ${max} items.`, { maxItems: max });
      const items = value.map((entry: unknown, index) => item.read(entry, withinBounds(spot, index)) ?? null);
      if (unique && new Set(items).size < items.length) return refuse(spot, 'not_unique', 'Must not repeat an item.');
      return items;
    },
  };
}

/** An amount in minor units of its currency. */
export const money: FieldKind = shape({ amount: integer(0, 1_000_000_000), currency }, ['amount', 'currency']);

/** Strings under names of the client's own choice. */
export const METADATA: FieldKind = {
  read(value, spot) {
    if (!isJsonObject(value)) return refuse(spot, 'wrong_type', 'Must be an object.', { type: 'object' });
    const entries = Object.entries(value);
    if (entries.length > 20)
      return refuse(spot, 'too_many_items', 'Must have at most 20 members.', { maxProperties: 20 });
    const name = text({ max: 40 });
    const content = text({ min: 0, max: 500 });
    const read = entries.map(([key, entry]): [string, FieldValue] => {
      name.read(key, withinBounds(spot, key));
      return [key, content.read(entry, withinBounds(spot, key)) ?? null];
    });
    // fromEntries defines members, so a client's "__proto__" stays a name like any other.
    return Object.fromEntries(read);
  },
};

/** Any object, as long as it is not nested so deeply that reading it back could fail, and its numbers are kept as numbers. */
export const FREE_OBJECT: FieldKind = {
  read(value, spot) {
    if (!isJsonObject(value)) return refuse(spot, 'wrong_type', 'Must be an object.', { type: 'object' });
    if (!isShallow(value, NESTING_MAX)) return tooDeep(spot);
    return refuseInfinite(value, spot) ? undefined : (value as FieldValue);
  },
};

/** JSON can say numbers that no computer has. They are read as infinite, and written as null. */
function refuseInfinite(value: unknown, spot: FieldSpot): boolean {
  if (value === Number.POSITIVE_INFINITY) refuse(spot, 'too_large', 'Must be a number of 64 bits.');
  if (value === Number.NEGATIVE_INFINITY) refuse(spot, 'too_small', 'Must be a number of 64 bits.');
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return false;
  const inArray = Array.isArray(value);
  const found = Object.entries(value).map(([name, member]) =>
    refuseInfinite(member, withinBounds(spot, inArray ? Number(name) : name)),
  );
  return found.includes(true);
}

function tooDeep(spot: FieldSpot): undefined {
  return refuse(spot, 'invalid', `Must not be nested more than ${NESTING_MAX} levels deep.`);
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1));
}
