// Decides whether a request asked for an answer that only some requests may get: a part of a body (206, 416), or no body because the client
// has it (304). RFC 9110 sections 13 and 14.

import type { Forwardable } from '../../exchange.ts';
import type { AnswerHeaders } from '../../http1/client/wire.ts';
import { firstValueOf } from './inspected-body.ts';

type Asking = Pick<Forwardable, 'headers' | 'operation' | 'method'>;

/** One range of bytes: `a-`, `a-b`, or `-n` for the last n bytes. */
const oneRange = /^bytes[ \t]*=[ \t]*(\d{0,18})-(\d{0,18})[ \t]*$/i;
const contentRange = /^bytes (\d{1,18})-(\d{1,18})\/(\d{1,18}|\*)$/i;

/** Whether the request asked for this status. True for all statuses but these three. */
export function wasAsked(status: number, headers: AnswerHeaders, exchange: Asking): boolean {
  if (status === 206) return isAskedPart(headers, rangeOf(exchange));
  if (status === 416) return rangeOf(exchange) !== undefined;
  if (status === 304) return exchange.headers.has('if-none-match') || exchange.headers.has('if-modified-since');
  return true;
}

/** Returns the Range that the upstream has got (request-lines.ts). */
function rangeOf({ headers, operation, method }: Asking): string | undefined {
  return operation.ranges && method !== 'HEAD' ? headers.get('range') : undefined;
}

/**
 * Whether the answer is a part within the single range of the request. If the request has several ranges, the parts may come in any form.
 */
function isAskedPart(headers: AnswerHeaders, range: string | undefined): boolean {
  const asked = range === undefined ? null : oneRange.exec(range);
  if (range === undefined || asked === null) return range !== undefined;
  if (/^multipart\/byteranges\b/i.test(firstValueOf(headers['content-type']) ?? '')) return false;
  const given = contentRange.exec(firstValueOf(headers['content-range']) ?? '');
  if (given === null) return false;
  const [first, last] = [Number(given[1]), Number(given[2])];
  if (asked[1] === '') return last - first < Number(asked[2]);
  return first >= Number(asked[1]) && (asked[2] === '' || last <= Number(asked[2]));
}
