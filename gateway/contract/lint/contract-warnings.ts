// Finds legal parts of contracts that deserve a warning of `check`: pairs of path templates that one request can match, and operations for
// files whose bodies are buffered. Such an operation refuses files that are longer than the buffer.

import { essenceOf, isJson, isOfBytes, MULTIPART } from '../media-types.ts';
import type { ContractOperation } from '../operations/operations.ts';
import { segmentsOf, shapeOf, valuesBetween } from '../operations/routes.ts';
import { createValueShapes, type ValueShape } from '../parameters/value-shape.ts';
import { child, isObject, member, memberNames } from '../pointer.ts';

/**
 * Returns pairs of templates that both match some request although neither is a special case of the other (`/a/{x}/c` and `/a/b/{y}`).
 * This is legal, because literals win from left to right, but worth a warning. Quadratic in the number of templates with the same
 * number of segments.
 */
export function ambiguousPaths(
  operations: readonly { readonly path: string; readonly method: string }[],
): (readonly [string, string])[] {
  const bySize = new Map<number, Map<string, Template>>();
  for (const { path, method } of operations) {
    const segments = segmentsOf(path);
    const sameSize = bySize.get(segments.length) ?? new Map<string, Template>();
    const template = sameSize.get(path) ?? { segments, methods: new Set() };
    template.methods.add(method);
    bySize.set(segments.length, sameSize.set(path, template));
  }
  const crossings: (readonly [string, string])[] = [];
  for (const templates of bySize.values()) {
    const list = [...templates];
    for (const [index, [left, a]] of list.entries()) {
      for (const [right, b] of list.slice(index + 1)) if (cross(a, b)) crossings.push([left, right]);
    }
  }
  return crossings;
}

interface Template {
  readonly segments: readonly string[];
  readonly methods: Set<string>;
}

function cross(a: Template, b: Template): boolean {
  let aIsSpecial = false;
  let bIsSpecial = false;
  for (const [index, left] of a.segments.entries()) {
    const right = b.segments[index] as string;
    if (left === right) continue;
    if (!left.includes('{') && !right.includes('{')) return false;
    if (isSpecialOf(left, right)) aIsSpecial = true;
    else if (isSpecialOf(right, left)) bIsSpecial = true;
    else if (!left.includes('{') || !right.includes('{')) return false;
  }
  return aIsSpecial && bIsSpecial && [...a.methods].some((method) => b.methods.has(method));
}

/** Returns whether `other` matches everything that `segment` matches. */
function isSpecialOf(segment: string, other: string): boolean {
  if (!other.includes('{') || shapeOf(segment) === shapeOf(other)) return false;
  return valuesBetween(other.split(/\{[^{}]*\}/), segment) !== undefined;
}

interface BufferedUpload {
  readonly entry: ContractOperation;
  /** Whether the operation could be streamed, because it does not also accept JSON. */
  readonly canStream: boolean;
}

export function bufferedUploads(operations: readonly ContractOperation[]): BufferedUpload[] {
  return operations.flatMap((entry) => {
    if (entry.operation.body === 'stream') return [];
    const { root } = entry.document;
    const content = member(root, member(root, entry.located, 'requestBody'), 'content');
    const types = memberNames(content);
    if (!types.some((type) => isOfBytes(type) || hasFiles(entry, type))) return [];
    return [{ entry, canStream: !types.some(isJson) }];
  });
}

/** Whether a form has a property that is described as bytes, or as the address of a file (Django REST framework). */
function hasFiles({ document: { root }, located }: ContractOperation, type: string): boolean {
  if (essenceOf(type) !== MULTIPART) return false;
  const content = member(root, member(root, located, 'requestBody'), 'content');
  const schema = child(member(root, content, type), 'schema');
  const shape = createValueShapes(root)(isObject(schema.value) ? [schema] : []);
  const properties = shape.propertyNames.flatMap((name) => shape.property(name) ?? []);
  return properties.some((property) => isFile(property) || (property.types.has('array') && isFile(property.items())));
}

function isFile({ isBinary, format }: ValueShape): boolean {
  return isBinary || format === 'uri';
}
