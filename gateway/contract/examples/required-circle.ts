// Finds members that require themselves, because no JSON value can contain itself.

import { follow, isRecord, type JsonObject, objectAt } from '../pointer.ts';

const DEPTH_MAX = 50;

/** Returns the name of a required member whose schema requires the same member again; undefined if there is none. */
export function requiredCircle(root: JsonObject, schema: unknown): string | undefined {
  const done = new Set<unknown>();

  function search(value: unknown, above: readonly unknown[]): string | undefined {
    const followed = follow(root, { value, pointer: '' }).value;
    if (!isRecord(followed) || admitsNull(value) || admitsNull(followed)) return undefined;
    if (done.has(followed) || above.length > DEPTH_MAX) return undefined;
    const within = [...above, followed];
    for (const [name, member] of requiredMembers(followed)) {
      const target = follow(root, { value: member, pointer: '' }).value;
      if (within.includes(target) && !admitsNull(member)) return name;
      const found = search(member, within);
      if (found !== undefined) return found;
    }
    done.add(followed);
    return undefined;
  }

  return search(schema, []);
}

function requiredMembers({ properties, required }: JsonObject): [string, unknown][] {
  const names = Array.isArray(required) ? required.map(String) : [];
  return names.flatMap((name) => {
    const member = objectAt({ properties }, 'properties')[name];
    return member === undefined ? [] : [[name, member]];
  });
}

function admitsNull(schema: unknown): boolean {
  return isRecord(schema) && (schema.nullable === true || [schema.type].flat().includes('null'));
}
