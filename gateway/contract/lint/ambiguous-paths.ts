// Finds pairs of path templates that one request can match. They are legal, but `check` warns of them.

import { segmentsOf, shapeOf, valuesBetween } from '../operations/routes.ts';

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
