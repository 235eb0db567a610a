// Copies parts of a contract into a published document, without gateway extensions and with updated references.

import { follow, isRecord, type JsonObject, uriDecoded } from '../pointer.ts';

export type Copy = (value: unknown) => unknown;

const COMPONENT_REFERENCE = /^#\/components\/([^/]+)\/([^/]+)(.*)$/;

/** Objects with members that the author names, and objects that are data. A member `x-gateway-…` in them is not an extension. */
const NAMED_BY_AUTHORS = new Set([
  'properties',
  'headers',
  'patternProperties',
  'example',
  'default',
  'value',
  'const',
]);

/**
 * @param newPlace maps a component to its new place: `schemas/Job` → `schemas/billing_Job`
 * @param idOf maps the name of an operation to its published name
 */
export function createCopy(
  root: JsonObject,
  newPlace: (place: string) => string,
  idOf: (declared: string) => string,
): { readonly copy: Copy; readonly copyLink: Copy } {
  const inProgress = new Set<string>();

  function copy(value: unknown, isChosen = false): unknown {
    if (Array.isArray(value)) return value.map((item) => copy(item));
    if (!isRecord(value)) return value;
    const { $ref } = value;
    if (typeof $ref === 'string' && $ref.startsWith('#/') && !COMPONENT_REFERENCE.test($ref))
      return inlineTarget(value, $ref);
    const schema = isChosen ? value : withNullType(value);
    const result: JsonObject = {};
    for (const [name, below] of Object.entries(schema)) {
      if (!isChosen && name.startsWith('x-gateway-')) continue;
      const copied =
        name === '$ref' || (typeof below === 'string' && below.startsWith('#/components/'))
          ? movedReference(below, newPlace)
          : name === 'links' && !isChosen && isRecord(below)
            ? Object.fromEntries(Object.entries(below).map(([link, value]) => [link, copyLink(value)]))
            : copy(below, NAMED_BY_AUTHORS.has(name));
      // Assignment would set the prototype if the name is `__proto__`.
      Object.defineProperty(result, name, { value: copied, enumerable: true, writable: true, configurable: true });
    }
    return result;
  }

  /**
   * Replaces a reference into the middle of a path by a copy of its target, because paths move. A circular reference ends with an
   * empty schema.
   */
  function inlineTarget(value: JsonObject, reference: string): unknown {
    if (inProgress.has(reference)) return {};
    inProgress.add(reference);
    const result = copy(follow(root, { value, pointer: '' }).value);
    inProgress.delete(reference);
    return result;
  }

  function copyLink(value: unknown): unknown {
    const link = copy(value);
    if (isRecord(link) && typeof link.operationId === 'string') link.operationId = idOf(link.operationId);
    return link;
  }

  return { copy, copyLink };
}

/**
 * Replaces an enumeration of null alone by the type null. Django REST framework writes such an enumeration, for which openapi-generator
 * writes a Python class that cannot be imported.
 */
function withNullType(value: JsonObject): JsonObject {
  const { enum: values, ...rest } = value;
  const isNull = Array.isArray(values) && values.length === 1 && values[0] === null && value.type === undefined;
  return isNull ? { type: 'null', ...rest } : value;
}

function movedReference(reference: unknown, newPlace: (place: string) => string): unknown {
  const [, kind, name, rest] = COMPONENT_REFERENCE.exec(String(reference)) ?? [];
  return kind === undefined ? reference : `#/components/${newPlace(`${kind}/${uriDecoded(name as string)}`)}${rest}`;
}

/** Calls `found` for every component that a value refers to directly, as `schemas/Job`. */
export function forEachUsed(root: JsonObject, value: unknown, found: (place: string) => void): void {
  const inlined = new Set<string>();
  function visit(value: unknown): void {
    if (typeof value === 'string' && value.startsWith('#/')) {
      const [, kind, name] = COMPONENT_REFERENCE.exec(value) ?? [];
      if (kind !== undefined) found(`${kind}/${uriDecoded(name as string)}`);
      else if (!inlined.has(value)) {
        inlined.add(value);
        visit(follow(root, { value: { $ref: value }, pointer: '' }).value);
      }
    } else if (Array.isArray(value)) value.forEach(visit);
    else if (isRecord(value)) Object.values(value).forEach(visit);
  }
  visit(value);
}

/** Returns the component at a place such as `schemas/Job`, or undefined. */
export function componentAt(root: JsonObject, place: string): unknown {
  return place.split('/').reduce<unknown>(at, root.components);
}

function at(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
