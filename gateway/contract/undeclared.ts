// Pure: describes an answer whose status or media type its contract does not declare, with the line that would declare it.

import type { UndeclaredAnswer } from '../exchange/answer-check.ts';
import { essenceOf } from './media-types.ts';
import type { ContractOperation } from './operations/operations.ts';
import { member, memberNames, pathOf } from './pointer.ts';
import { responseFor } from './schemas/schemas.ts';

/** Types in which browsers run scripts: HTML, SVG and all other XML, which may name a style sheet with scripts. */
const ACTIVE = /^(?:text\/html|(?:text|application)\/xml(?:-[\w-]+)?|[^/]+\/[^/]+\+xml)$/;
export const HTML = 'text/html';
/** Matches restricted names (RFC 6838 section 4.2). Other texts of a service are not repeated. */
const NAME = /^[\w!#$&^.+-]{1,64}\/[\w!#$&^.+-]{1,64}$/;

export function isActiveType(essence: string): boolean {
  return ACTIVE.test(essence);
}

export function undeclaredStatus(
  entry: ContractOperation,
  status: number,
  contentType: string | undefined,
): UndeclaredAnswer {
  const essence = essenceOf(contentType);
  const responses = member(entry.document.root, entry.located, 'responses');
  const content = NAME.test(essence) ? `, content: { ${essence}: {} }` : '';
  const line = `"${status}": { description: …${content} }`;
  const text = `status ${status}; ${declaredText(memberNames(responses))}; to declare it, add ${line} ${placeIn(entry, responses.pointer)}`;
  return { what: 'status', reaction: entry.operation.answerCheck, text, isActive: isActiveType(essence) };
}

/** Describes an undeclared media type. @param types the types that the contract declares for this status */
export function undeclaredMediaType(
  entry: ContractOperation,
  status: number,
  contentType: string | undefined,
  types: readonly string[],
): UndeclaredAnswer {
  const essence = essenceOf(contentType);
  const isNamed = NAME.test(essence);
  const came = isNamed ? essence : contentType === undefined ? 'no media type' : 'an unreadable media type';
  const where = placeIn(entry, `${pointerFor(entry, status)}/content`);
  // Where a contract declares no page, the page is an error or a login, which is not part of the contract.
  const isPage = essence === HTML && !types.some((type) => isActiveType(essenceOf(type)));
  const first = isPage ? 'look at the service, because this is mostly its login or error page; otherwise, ' : '';
  const remedy = isNamed ? `${first}to declare it, add ${essence}: {} ${where}` : 'have the service send Content-Type';
  const text = `status ${status} with ${came}; ${declaredText(types)}; ${remedy}`;
  const { undeclaredMediaTypes: reaction } = entry.operation;
  return { what: 'media type', reaction, text, isActive: isActiveType(essence) };
}

function declaredText(names: readonly string[]): string {
  return names.length === 0 ? 'the contract declares none' : `the contract declares ${names.join(', ')}`;
}

/** Returns the place in the contract, such as `under paths./v1/files.get.responses (listFiles, files.yaml)`. */
function placeIn({ operation, document }: ContractOperation, pointer: string): string {
  return `under ${pathOf(pointer).join('.')} (${operation.id}, ${document.file})`;
}

/** Returns the response that covers a status. For a 206, this is the response of the whole. */
function pointerFor(entry: ContractOperation, status: number): string {
  const { value, pointer } = responseFor(entry, status);
  return value === undefined ? responseFor(entry, 200).pointer : pointer;
}
