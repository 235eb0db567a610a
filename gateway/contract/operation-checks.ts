// Refuses what a contract declares for an operation and the gateway cannot do.

import type { Mistake } from '../config-errors.ts';
import type { Operation } from '../operation.ts';
import type { ContractDocument } from './document.ts';
import { isJson, mediaTypesOf } from './media-types.ts';
import { type JsonObject, type Located, member } from './pointer.ts';

interface Declared {
  readonly document: ContractDocument;
  /** The path of the operation in its document. */
  readonly place: readonly string[];
  readonly located: Located;
  readonly operation: Operation;
  readonly parameters: readonly Located[];
}

export function checkOperation(declared: Declared, mistakes: Mistake[]): void {
  const { document, place, located, operation, parameters } = declared;
  checkBodyMode(document, place, operation, located, mistakes);
  checkParameters(document, place, parameters, mistakes);
  checkUpgrade(document, place, located.value as JsonObject, mistakes);
}

/** Only a GET can be upgraded (RFC 6455 section 4.1). */
function checkUpgrade(
  document: ContractDocument,
  place: readonly string[],
  operation: JsonObject,
  mistakes: Mistake[],
): void {
  const member = 'x-gateway-upgrade';
  if (!(member in operation) || place.at(-1) === 'get') return;
  const reason = `${member} has no meaning here: only GET can be upgraded.`;
  mistakes.push(document.position().mistakeAtKey([...place, member], reason, 'Put it on the GET of this path.'));
}

function checkBodyMode(
  document: ContractDocument,
  place: readonly string[],
  operation: Operation,
  located: Located,
  mistakes: Mistake[],
): void {
  if (operation.body !== 'stream') return;
  const { root } = document;
  const content = member(root, member(root, located, 'requestBody'), 'content').value;
  const json = mediaTypesOf(content).find(isJson);
  if (json === undefined) return;
  const reason = `a body of type ${json} is checked, so it cannot be streamed.`;
  const remedy = 'Let it be buffered (body: buffer), or take the JSON media type out of requestBody.';
  mistakes.push(document.position().mistakeAt(place, reason, remedy));
}

/** Refuses the place `querystring` of OpenAPI 3.2. */
function checkParameters(
  document: ContractDocument,
  place: readonly string[],
  parameters: readonly Located[],
  mistakes: Mistake[],
): void {
  for (const { value } of parameters) {
    const { name, in: where } = value as JsonObject;
    if (where !== 'querystring') continue;
    const reason = `the parameter "${name}" describes the query as a whole, which the gateway does not check.`;
    mistakes.push(document.position().mistakeAt(place, reason, 'Declare parameters with in: query instead.'));
  }
}
