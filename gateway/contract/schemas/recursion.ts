// Finds the schemas of a document that refer to themselves, directly or through others.

import { type JsonObject, pathOf, uriDecoded, valueAt } from '../pointer.ts';

/**
 * Creates a function that takes a reference within the document (`#/components/schemas/Node`), and returns whether its schema can be
 * reached from itself. Results are cached, so that a document of a thousand schemas is walked once.
 */
export function createRecursion(root: JsonObject): (reference: string) => boolean {
  const referencesBelow = new Map<string, readonly string[]>();

  function targetsOf(pointer: string): readonly string[] {
    let found = referencesBelow.get(pointer);
    if (found === undefined) {
      found = [...new Set(referencesIn(valueAt(root, pathOf(pointer))))];
      referencesBelow.set(pointer, found);
    }
    return found;
  }

  return function isRecursive(reference) {
    const start = pointerOf(reference);
    const seen = new Set<string>();
    const left = [...targetsOf(start)];
    for (let target = left.pop(); target !== undefined; target = left.pop()) {
      // A schema that contains the first one leads back to it.
      if (target === start || start.startsWith(`${target}/`)) return true;
      if (seen.has(target)) continue;
      seen.add(target);
      left.push(...targetsOf(target));
    }
    return false;
  };
}

function pointerOf(reference: string): string {
  return uriDecoded(reference.slice(reference.indexOf('#') + 1));
}

function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const { $ref } = value as { readonly $ref?: unknown };
  const own = typeof $ref === 'string' ? [pointerOf($ref)] : [];
  return [...own, ...Object.values(value).flatMap(referencesIn)];
}
