// The request for a record that does not exist. Its id is one that the contract allows, because the gateway refuses every other id itself.

import { randomInt } from 'node:crypto';
import type { ContractOperation } from '../../contract/operations/operations.ts';
import { templateParameters } from '../../contract/operations/routes.ts';
import { toParameter } from '../../contract/parameters/parameter.ts';
import { writtenPathValue } from '../../contract/parameters/path-values.ts';
import type { JsonObject, Located } from '../../contract/pointer.ts';
import type { Schemas } from '../../contract/schemas/schemas.ts';
import type { BackendRequest } from './backend.ts';
import { createAcceptance } from './plan.ts';

/** A text, a UUID, the largest integer that 32 bits hold, and a large one of nine digits. */
const ABSENT_IDS = ['does-not-exist-0000000000', 'f1e3a7c2-5b0d-4e86-9a41-d07c3b8e52f6', 2_147_483_647, 999_999_937];
/** Fewer characters might be the id of a record. */
const VARIED_MIN = 6;

/** Undefined if each id that the contract allows may exist. Of several parameters, the last one that can be absent is. */
export function absentRecord(asked: BackendRequest, schemas: Schemas): BackendRequest | undefined {
  const { entry, headers, search } = asked;
  const { accepted } = createAcceptance(entry, schemas);
  const query = search.slice(1);
  const names = templateParameters(entry.operation.path);
  for (let index = names.length - 1; index >= 0; index -= 1) {
    const known = asked.pathValues[index] ?? '';
    for (const id of absentIds(entry, names[index] ?? '', known)) {
      const pathValues = asked.pathValues.with(index, id);
      if (accepted({ pathValues, query, headers }) !== undefined) return { ...asked, pathValues };
    }
  }
  return undefined;
}

function absentIds(entry: ContractOperation, name: string, known: string): string[] {
  const { root } = entry.document;
  const declared = entry.parameters.find((located) => isPathParameter(located, name));
  if (declared === undefined) return [];
  const parameter = toParameter(root, declared);
  return [...ABSENT_IDS.map((id) => writtenPathValue(parameter, id)), ...varied(known)];
}

function isPathParameter({ value }: Located, name: string): boolean {
  const parameter = value as JsonObject;
  return parameter.in === 'path' && parameter.name === name;
}

/** An id with other letters and digits at its end: hexadecimal ones, which most patterns allow; none if the end is short. */
function varied(known: string): string[] {
  const [end = ''] = /[A-Za-z0-9]*$/.exec(known) ?? [];
  if (end.length < VARIED_MIN) return [];
  const other = end.replace(/./g, (character) =>
    pick(/\d/.test(character) ? '0123456789' : character < 'a' ? 'ABCDEF' : 'abcdef'),
  );
  return [known.slice(0, -end.length) + other];
}

function pick(characters: string): string {
  return characters[randomInt(characters.length)] as string;
}
