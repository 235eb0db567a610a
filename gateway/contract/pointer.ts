// JSON Pointers (RFC 6901) into a contract document, and following its internal references.

import type { JsonObject } from './document.ts';

/** A value in a document, and the pointer at which it finally stands. */
export interface Located {
  readonly value: unknown;
  readonly pointer: string;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectAt(value: unknown, member: string): JsonObject {
  const found = isObject(value) ? value[member] : undefined;
  return isObject(found) ? found : {};
}

export function escapeToken(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}

export function pathOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Follows `$ref` from a located value until something that is not a reference. Circles and dangling ends give the last value. */
export function follow(root: JsonObject, located: Located): Located {
  let current = located;
  for (let hops = 0; hops < 32; hops++) {
    const reference = isObject(current.value) ? current.value.$ref : undefined;
    if (typeof reference !== 'string' || !reference.startsWith('#/')) return current;
    const tokens = pathOf(decodeURIComponent(reference.slice(1)));
    let value: unknown = root;
    for (const token of tokens)
      value = isObject(value) || Array.isArray(value) ? (value as JsonObject)[token] : undefined;
    current = { value, pointer: tokens.map((token) => `/${escapeToken(token)}`).join('') };
  }
  return current;
}

/** The member of a located value, references followed. */
export function member(root: JsonObject, located: Located, name: string | number): Located {
  const value =
    isObject(located.value) || Array.isArray(located.value) ? (located.value as JsonObject)[name] : undefined;
  return follow(root, { value, pointer: `${located.pointer}/${escapeToken(String(name))}` });
}
