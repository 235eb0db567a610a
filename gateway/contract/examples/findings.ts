// Finds the places where a contract cannot be answered from: operations without answers, and answers without a valid value.

import type { Mistake } from '../../shared/mistakes.ts';
import type { ContractOperation } from '../operations/operations.ts';
import { pathOf } from '../pointer.ts';
import type { Schemas } from '../schemas/schemas.ts';
import { valueOrNone } from './answers.ts';
import { contentOf, type DeclaredAnswer, declaredAnswer, statusesOf } from './declared.ts';
import { headersFor } from './headers.ts';

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
    const reason = `no valid value could be made for the ${status} answer, so a request for it gets 501.`;
    return [mistakeAt(entry, mediaType.pointer, [], reason, 'Add an example that matches the schema.')];
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

function mistakeAt(
  entry: ContractOperation,
  pointer: string,
  place: readonly string[],
  reason: string,
  remedy: string,
): Mistake {
  return entry.document.position().mistakeAt([...pathOf(pointer), ...place], reason, remedy);
}
