// Finds the ids of records in answers. The trial uses them in the paths of single records.

import type { ContractOperation } from '../../contract/operations/operations.ts';
import { templateParameters } from '../../contract/operations/routes.ts';
import { isRecord, member } from '../../contract/pointer.ts';
import { responseFor } from '../../contract/schemas/schemas.ts';
import { type BackendAnswer, jsonIn } from './backend.ts';
import { collectionOf } from './plan.ts';

/** Returns the ids in the answer to a list or a creation; empty if there are none. */
type IdsOf = (answered: BackendAnswer) => string[];

/** Creates the function. @param entries operations of the upstream. Their path parameters name the member of a record that is its id */
export function createIdsOf(entries: readonly ContractOperation[]): IdsOf {
  const names = new Map<string, string>();
  for (const { operation } of entries) {
    const name = templateParameters(operation.path).at(-1);
    if (name !== undefined && operation.path.endsWith(`/{${name}}`))
      names.set(collectionOf(operation.path, name), name);
  }
  return function idsOf(answered) {
    if (answered.status < 200 || answered.status > 299) return [];
    const name = names.get(answered.asked.entry.operation.path);
    const linked = name === undefined ? undefined : linkedId(answered, name);
    return linked === undefined ? identifiersIn(answered, name) : [linked];
  };
}

/** Returns the id that a link of the contract takes from the request or the answer, for answers without an id. */
function linkedId({ asked, status, body }: BackendAnswer, name: string): string | undefined {
  const { root } = asked.entry.document;
  const links = member(root, responseFor(asked.entry, status), 'links');
  if (!isRecord(links.value)) return undefined;
  for (const key of Object.keys(links.value)) {
    const parameters = member(root, member(root, links, key), 'parameters').value;
    const expression = isRecord(parameters) ? parameters[name] : undefined;
    const [, place, pointer = ''] = /^\$(request|response)\.body#(\/.+)$/.exec(String(expression)) ?? [];
    if (place === undefined) continue;
    const id = textOf(valueAt(place === 'request' ? asked.body : jsonIn(body), pointer));
    if (id !== undefined) return id;
  }
  return undefined;
}

/** Evaluates a JSON pointer (RFC 6901 section 4). */
function valueAt(value: unknown, pointer: string): unknown {
  let found = value;
  for (const part of pointer.slice(1).split('/')) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = (found as Record<string, unknown>)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return found;
}

/** Returns the id of the record in an answer, or the ids in its first list. */
function identifiersIn({ body }: BackendAnswer, name: string | undefined): string[] {
  return recordsIn(jsonIn(body)).flatMap((record) => {
    const named = name === undefined ? undefined : record[name];
    return textOf(named ?? record.id ?? record.name) ?? [];
  });
}

function recordsIn(value: unknown, depth = 0): Record<string, unknown>[] {
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'object' && item !== null);
  if (typeof value !== 'object' || value === null || depth > 2) return [];
  const record = value as Record<string, unknown>;
  if (record.id !== undefined) return [record];
  const [first] = Object.values(record)
    .map((below) => recordsIn(below, depth + 1))
    .filter((found) => found.length > 0);
  return first ?? (typeof record.name === 'string' ? [record] : []);
}

function textOf(id: unknown): string | undefined {
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined;
}
