// Resolves JSON Pointers (RFC 6901) and internal references of a contract document.

import { isRecord, objectAt } from '../shared/is-record.ts';

export { isRecord, objectAt };

export type JsonObject = Record<string, unknown>;

/** A value in a document and its JSON Pointer. */
export interface LocatedValue {
  readonly value: unknown;
  readonly pointer: string;
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

/** Encodes a pointer as a URI fragment. */
export function fragmentOf(pointer: string): string {
  return `#${encodeURI(pointer).replaceAll('#', '%23')}`;
}

/** Follows `$ref` from a located value to a value that is not a reference. Circular and dangling references return the last value. */
export function follow(root: JsonObject, located: LocatedValue): LocatedValue {
  let current = located;
  for (let hops = 0; hops < 32; hops++) {
    const reference = isRecord(current.value) ? current.value.$ref : undefined;
    if (typeof reference !== 'string' || !reference.startsWith('#/')) return current;
    const tokens = pathOf(uriDecoded(reference.slice(1)));
    current = { value: valueAt(root, tokens), pointer: tokens.map((token) => `/${escapeToken(token)}`).join('') };
  }
  return current;
}

/** Returns a member of a located value, references followed. */
export function member(root: JsonObject, located: LocatedValue, name: string | number): LocatedValue {
  return follow(root, child(located, name));
}

/** Returns a member of a located value without following references, because a schema may have keywords beside its reference. */
export function child({ value, pointer }: LocatedValue, name: string | number): LocatedValue {
  return { value: at(value, name), pointer: `${pointer}/${escapeToken(String(name))}` };
}

function at(value: unknown, name: string | number): unknown {
  return isRecord(value) || Array.isArray(value) ? (value as JsonObject)[name] : undefined;
}

/** Returns the value at a path, or undefined. */
export function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce(at, root);
}

/** Returns the names of a located object's members; empty for any other value. */
export function memberNames({ value }: LocatedValue): string[] {
  return isRecord(value) ? Object.keys(value) : [];
}

/** Returns the items of a located list without following references; empty for any other value. */
export function itemsOf(located: LocatedValue): LocatedValue[] {
  return Array.isArray(located.value) ? located.value.map((_, index) => child(located, index)) : [];
}

/** Decodes percent-escapes. Text with a broken escape stays unchanged. */
export function uriDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
