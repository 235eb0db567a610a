// Copies parts of a contract into a published one: what is only for the gateway is left out, references go where things are now.

import type { JsonObject } from '../document.ts';
import { follow, isObject } from '../pointer.ts';

export type Copy = (value: unknown) => unknown;

const component = /^#\/components\/([^/]+)\/([^/]+)(.*)$/;

/** Under these stand names that somebody chose, or data: nothing in them is the gateway's. */
const chosen = new Set(['properties', 'headers', 'patternProperties', 'example', 'default', 'value', 'const']);

/** @param newPlace where a component is now: `schemas/Job` → `schemas/billing_Job` */
export function createCopy(root: JsonObject, newPlace: (place: string) => string): Copy {
  const underWay = new Set<string>();

  function copy(value: unknown, isChosen = false): unknown {
    if (Array.isArray(value)) return value.map((item) => copy(item));
    if (!isObject(value)) return value;
    const { $ref } = value;
    if (typeof $ref === 'string' && $ref.startsWith('#/') && !component.test($ref)) return inlined(value, $ref);
    const result: JsonObject = {};
    for (const [name, below] of Object.entries(value)) {
      if (!isChosen && name.startsWith('x-gateway-')) continue;
      const copied =
        name === '$ref' || (typeof below === 'string' && below.startsWith('#/components/'))
          ? movedReference(below, newPlace)
          : copy(below, chosen.has(name));
      // `__proto__` is a name like all others.
      Object.defineProperty(result, name, { value: copied, enumerable: true, writable: true, configurable: true });
    }
    return result;
  }

  /** Paths are put elsewhere, so what is referred to in the middle of one is written out; a circle ends with "anything". */
  function inlined(value: JsonObject, reference: string): unknown {
    if (underWay.has(reference)) return {};
    underWay.add(reference);
    const result = copy(follow(root, { value, pointer: '' }).value);
    underWay.delete(reference);
    return result;
  }

  return copy;
}

function movedReference(reference: unknown, newPlace: (place: string) => string): unknown {
  const [, kind, name, rest] = component.exec(String(reference)) ?? [];
  return kind === undefined ? reference : `#/components/${newPlace(`${kind}/${decoded(name as string)}`)}${rest}`;
}

/**
 * Calls `found` for every component that a value refers to: `schemas/Job`. Those that these refer to are not looked for.
 */
export function forEachUsed(root: JsonObject, value: unknown, found: (place: string) => void): void {
  const inlined = new Set<string>();
  function visit(value: unknown): void {
    if (typeof value === 'string' && value.startsWith('#/')) {
      const [, kind, name] = component.exec(value) ?? [];
      if (kind !== undefined) found(`${kind}/${decoded(name as string)}`);
      else if (!inlined.has(value)) {
        inlined.add(value);
        visit(follow(root, { value: { $ref: value }, pointer: '' }).value);
      }
    } else if (Array.isArray(value)) value.forEach(visit);
    else if (isObject(value)) Object.values(value).forEach(visit);
  }
  visit(value);
}

/** `schemas/Job` → what stands there; undefined if there is nothing. */
export function componentAt(root: JsonObject, place: string): unknown {
  return place.split('/').reduce<unknown>(at, root.components);
}

function at(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Names in references may be escaped, although components have names that never need it. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
