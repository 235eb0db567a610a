// Finds the places where a contract cannot be answered from: examples that do not match their schema, and answers without a valid value.

import type { Mistake } from '../../shared/mistakes.ts';
import type { ContractOperation } from '../operations/operations.ts';
import { pathOf } from '../pointer.ts';
import type { Schemas } from '../schemas/schemas.ts';
import { toBodyViolations } from '../violations/violations.ts';
import { valueOrNone } from './answers.ts';
import { contentOf, type DeclaredAnswer, declaredAnswer, statusesOf, statusIn, writtenExamples } from './declared.ts';
import { headersFor } from './headers.ts';
import { checkFor } from './values.ts';

/** Returns findings about examples. Their lines are added by `locate` of each document's positions. */
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
    const unfit = writtenExamples(entry.document.root, mediaType).flatMap(({ value, place }) => {
      const own = { ...answer, status: answer.isExact ? status : (statusIn(value) ?? status) };
      const violations = violationsOf(own, type, value, schemas);
      if (violations === undefined) return [];
      const reason = `the example of the ${status} answer does not match its schema (${violations}), so it is not given.`;
      return [mistakeAt(entry, mediaType.pointer, place, reason, 'Correct the example or the schema.')];
    });
    if (valueOrNone({ answer, type, mediaType, example: undefined, schemas }) !== undefined) return unfit;
    const reason = `no valid value could be made for the ${status} answer, so a request for it gets 501.`;
    return [...unfit, mistakeAt(entry, mediaType.pointer, [], reason, 'Add an example that matches the schema.')];
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

/** Returns the violations of a value; undefined if it is valid. */
function violationsOf(answer: DeclaredAnswer, type: string, value: unknown, schemas: Schemas): string | undefined {
  try {
    const errors = checkFor({ answer, type, schemas })?.(value, 0) ?? [];
    const violations = toBodyViolations(errors, answer.entry.document.root);
    return violations.length === 0
      ? undefined
      : violations.map(({ pointer, code }) => `${pointer || 'the whole'}: ${code}`).join(', ');
  } catch (error) {
    return (error as Error).message;
  }
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
