// Finds the schemas that every request of an operation must fit. If no value is valid there, the operation refuses every request. Pure.

import type { ContractOperation } from '../operations/operations.ts';
import { follow, isRecord, type JsonObject, member, objectAt } from '../pointer.ts';

/** Returns the names of the operations by the schemas that all their requests must fit. */
export function neededSchemas(operations: readonly ContractOperation[]): ReadonlyMap<unknown, readonly string[]> {
  const needed = new Map<unknown, string[]>();
  for (const entry of operations) {
    for (const schema of withParts(entry.document.root, requestSchemas(entry)))
      needed.set(schema, [...(needed.get(schema) ?? []), entry.operation.id]);
  }
  return needed;
}

/** Returns the schemas of required parameters, and of a required body that has one media type. */
function requestSchemas({ document: { root }, located, parameters }: ContractOperation): unknown[] {
  const body = member(root, located, 'requestBody').value;
  const types = Object.values(isRecord(body) && body.required === true ? objectAt(body, 'content') : {});
  const required = parameters.map(({ value }) => value).filter((one) => isRecord(one) && one.required === true);
  return [...required, ...(types.length === 1 ? types : [])].map((one) => (one as JsonObject).schema);
}

/** Adds the targets of references, the parts of `allOf`, and required members. */
function withParts(root: JsonObject, schemas: readonly unknown[]): ReadonlySet<unknown> {
  const found = new Set(schemas);
  for (const value of found) {
    if (!isRecord(value)) continue;
    const { type, allOf, required, $ref } = value;
    const members =
      type === 'object' && Array.isArray(required) ? required.map((name) => objectAt(value, 'properties')[name]) : [];
    const target = $ref === undefined ? [] : [follow(root, { value, pointer: '' }).value];
    for (const part of [...target, ...(Array.isArray(allOf) ? allOf : []), ...members]) found.add(part);
  }
  return found;
}
