// Suggests the query parameter or the member of a body that a client has probably meant, among the names that the published contract
// declares at the same place.

import type { ErrorObject } from 'ajv';
import { closest } from '../../shared/mistakes.ts';
import { follow, isRecord, type JsonObject, objectAt } from '../pointer.ts';
import { takeSteps } from '../schemas/check-scope.ts';
import { IN_PLACE, reachableFrom } from '../schemas/reachable.ts';

/** A comparison takes as many steps as the product of both lengths, so longer names, more errors and more names get no hint. */
const LENGTH_MAX = 40;
const COMPARED_MAX = 20;
const NAMES_MAX = 100;
const SCHEMAS_MAX = 50;
const EDITS_MAX = 2;

/** Returns the name that is meant by the name in the error of an undeclared member. */
export type NearName = (error: ErrorObject) => string | undefined;

/** Prepares the hints of one request. `root` is the document that contains the schema. */
export function createNearNames(root: JsonObject): NearName {
  let comparedLeft = COMPARED_MAX;

  return function nearName(error) {
    const { additionalProperty, unevaluatedProperty } = error.params as Record<string, unknown>;
    const name = additionalProperty ?? unevaluatedProperty;
    if (typeof name !== 'string' || name.length > LENGTH_MAX || comparedLeft === 0) return undefined;
    comparedLeft -= 1;
    const near = declaredNames(error, root)
      .filter((declared) => declared.length <= LENGTH_MAX && Math.abs(declared.length - name.length) <= EDITS_MAX)
      .filter((declared) => !isSent(error.data, declared))
      .slice(0, NAMES_MAX);
    takeSteps(near.length * name.length);
    // A short name may differ only in one edit, because two edits make any two short names equal.
    return closest(name, near, name.length < 4 ? 1 : EDITS_MAX);
  };
}

/** Returns the names that a client may send at the place of the error. */
function declaredNames({ keyword, parentSchema }: ErrorObject, root: JsonObject): string[] {
  // The keyword additionalProperties knows only the names beside it.
  const schemas =
    keyword === 'additionalProperties'
      ? [parentSchema]
      : reachableFrom(root, parentSchema, (name) => IN_PLACE.has(name), SCHEMAS_MAX);
  return [...schemas].flatMap((schema) =>
    Object.entries(objectAt(schema, 'properties')).flatMap(([name, value]) => (isReadOnly(root, value) ? [] : [name])),
  );
}

function isReadOnly(root: JsonObject, value: unknown): boolean {
  const followed = follow(root, { value, pointer: '' }).value;
  return [value, followed].some((schema) => isRecord(schema) && schema.readOnly === true);
}

function isSent(data: unknown, name: string): boolean {
  return isRecord(data) && Object.hasOwn(data, name);
}
