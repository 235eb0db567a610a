// Refuses declarations of a contract that the gateway cannot implement.

import type { Operation } from '../../exchange/operation.ts';
import type { Mistake } from '../../shared/mistakes.ts';
import { isJson, mediaTypesOf } from '../media-types.ts';
import { type JsonObject, type LocatedValue, member } from '../pointer.ts';
import type { ContractDocument } from '../reading/document.ts';

const UPGRADE = 'x-gateway-upgrade';
const ONCE = 'x-gateway-once';

interface DeclaredOperation {
  readonly document: ContractDocument;
  /** The path of the operation in its document. */
  readonly place: readonly string[];
  readonly located: LocatedValue;
  readonly operation: Operation;
  readonly parameters: readonly LocatedValue[];
}

export function checkOperation(declared: DeclaredOperation, mistakes: Mistake[]): void {
  const { document, place, located, operation, parameters } = declared;
  const { root } = document;
  const content = member(root, member(root, located, 'requestBody'), 'content').value;
  const json = operation.body === 'stream' ? mediaTypesOf(content).find(isJson) : undefined;
  if (json !== undefined) {
    const reason = `a body of type ${json} is checked, so it cannot be streamed.`;
    const remedy = 'Let it be buffered (body: buffer), or take the JSON media type out of requestBody.';
    mistakes.push(document.position().mistakeAt(place, reason, remedy));
  }
  for (const { value } of parameters) {
    const { name, in: where } = value as JsonObject;
    // OpenAPI 3.2 adds this place.
    if (where !== 'querystring') continue;
    const reason = `the parameter "${name}" describes the query as a whole, which the gateway does not check.`;
    mistakes.push(document.position().mistakeAt(place, reason, 'Declare parameters with in: query instead.'));
  }
  if (operation.once !== undefined && operation.idempotency === 'off') {
    const reason = `${ONCE} has no meaning here: the answer of this operation is never stored.`;
    mistakes.push(
      document.position().mistakeAt(place, reason, 'Put it on a POST or PATCH, without x-gateway-idempotency: off.'),
    );
  }
  // Only a GET can be upgraded (RFC 6455 section 4.1).
  if (UPGRADE in (located.value as JsonObject) && place.at(-1) !== 'get') {
    const reason = `${UPGRADE} has no meaning here: only GET can be upgraded.`;
    mistakes.push(document.position().mistakeAtKey([...place, UPGRADE], reason, 'Put it on the GET of this path.'));
  }
}
