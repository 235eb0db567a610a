// Walks over everything that a schema consists of, and follows references.

import { wordSet } from '../../shared/text.ts';
import { follow, isRecord, type JsonObject } from '../pointer.ts';

/** The keywords whose schemas describe the same value as the schema that has them. */
export const IN_PLACE = wordSet('allOf anyOf oneOf if then else not dependentSchemas');

/**
 * Returns the objects and lists that can be reached from a value, including the value itself and the targets of references. `leadsOn`
 * chooses the members of objects that are entered; items of lists are always entered. Stops at `visitedMax`.
 */
export function reachableFrom(
  root: JsonObject,
  start: unknown,
  leadsOn: (name: string) => boolean = () => true,
  visitedMax = Number.POSITIVE_INFINITY,
): ReadonlySet<unknown> {
  const seen = new Set<unknown>();
  const ahead = [start];
  while (ahead.length > 0 && seen.size < visitedMax) {
    const value = ahead.pop();
    if (typeof value !== 'object' || value === null || seen.has(value)) continue;
    seen.add(value);
    for (const [name, below] of Object.entries(value)) if (Array.isArray(value) || leadsOn(name)) ahead.push(below);
    if (isRecord(value) && typeof value.$ref === 'string') ahead.push(follow(root, { value, pointer: '' }).value);
  }
  return seen;
}
