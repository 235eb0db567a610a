// Finds the places where a contract cannot be answered from: operations without answers, and answers without a valid value.

import type { Mistake } from '../../shared/mistakes.ts';
import { contradictionsOf } from '../lint/impossible-schemas.ts';
import type { ContractOperation } from '../operations/operations.ts';
import { child, isRecord, type JsonObject, pathOf } from '../pointer.ts';
import { reachableFrom } from '../schemas/reachable.ts';
import type { Schemas } from '../schemas/schemas.ts';
import { valueOrNone } from './answers.ts';
import { contentOf, type DeclaredAnswer, declaredAnswer, statusesOf } from './declared.ts';
import { headersFor } from './headers.ts';
import { requiredCircle } from './required-circle.ts';

/** Returns findings. Their lines are added by `locate` of each document's positions. */
export function exampleFindings(operations: readonly ContractOperation[], schemas: Schemas): Mistake[] {
  return operations.flatMap((entry) => {
    const answers = statusesOf(entry).flatMap((status) => declaredAnswer(entry, status) ?? []);
    if (answers.length > 0) return answers.flatMap((answer) => findingsOf(answer, schemas));
    const reason = `${entry.operation.id} declares no answer, so a request for it gets 501.`;
    return [mistakeAt(entry, entry.located.pointer, [], reason, 'Declare one.')];
  });
}

function findingsOf(answer: DeclaredAnswer, schemas: Schemas): Mistake[] {
  const { entry, status, response } = answer;
  const content = [...contentOf(answer)].flatMap(([type, mediaType]) => {
    if (valueOrNone({ answer, type, mediaType, example: undefined, schemas }) !== undefined) return [];
    const { root } = entry.document;
    // A contradiction in the schema is reported itself, and an example would not help.
    if (contradicts(root, mediaType.value)) return [];
    const circle = requiredCircle(root, child(mediaType, 'schema').value);
    const reason = `no valid value could be made for the ${status} answer, so a request for it gets 501.`;
    if (circle === undefined)
      return [mistakeAt(entry, mediaType.pointer, [], reason, 'Add an example that matches the schema.')];
    const cause = `"${circle}" requires itself, so ${reason}`;
    return [mistakeAt(entry, mediaType.pointer, [], cause, `Make "${circle}" optional or nullable.`)];
  });
  const absent = Object.entries(headersFor({ answer, path: '/', value: undefined })).filter(
    ([, text]) => text === undefined,
  );
  const headers = absent.map(([name]) => {
    const reason = `no value could be made for the header ${name} of the ${status} answer, so the answer lacks it.`;
    return mistakeAt(entry, response.pointer, ['headers'], reason, 'Add an example to the header.');
  });
  return [...content, ...headers];
}

const SCHEMAS_MAX = 5000;

/** Whether a schema that is part of this value contradicts itself. */
function contradicts(root: JsonObject, value: unknown): boolean {
  return [...reachableFrom(root, value, undefined, SCHEMAS_MAX)].some(
    (schema) => isRecord(schema) && contradictionsOf(root, schema).length > 0,
  );
}

function mistakeAt(
  entry: ContractOperation,
  pointer: string,
  place: readonly string[],
  reason: string,
  remedy: string,
): Mistake {
  return entry.document.position().mistakeAt([...pathOf(pointer), ...place], reason, remedy);
}
