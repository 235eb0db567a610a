// Checks that a 206, 304 or 416 fits the request: its range of bytes or its conditions. Throws upstream_bad_response (an unrequested 416).

import { upstreamFailure } from '../../catalogue/upstream-failure.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { AnswerHeaders } from '../../http1/client/wire.ts';
import { firstValueOf } from '../headers/answer-headers.ts';

type RangeRequest = Pick<Forwardable, 'headers' | 'operation' | 'method'>;

/** One range of bytes: `a-`, `a-b`, or `-n` for the last n bytes. */
const ONE_RANGE = /^bytes[ \t]*=[ \t]*(\d{0,18})-(\d{0,18})[ \t]*$/i;
const CONTENT_RANGE = /^bytes (\d{1,18})-(\d{1,18})\/(\d{1,18}|\*)$/i;

/**
 * Whether the request allows the status of its answer. A 206 or a 416 answers only a request with a range, and a 304 answers only a
 * conditional request (RFC 9110 sections 13 and 14). Returns true for all other statuses.
 */
export function isStatusRequested(status: number, headers: AnswerHeaders, exchange: RangeRequest): boolean {
  if (status === 206) return isRequestedPart(headers, rangeOf(exchange));
  if (status === 416) return rangeOf(exchange) !== undefined;
  if (status === 304) return exchange.headers.has('if-none-match') || exchange.headers.has('if-modified-since');
  return true;
}

/** Throws upstream_bad_response for a 416 if the request had no range. */
export function refuseUnrequestedRange(status: number, headers: AnswerHeaders, exchange: RangeRequest): void {
  if (!isStatusRequested(status, headers, exchange))
    throw upstreamFailure(
      'upstream_bad_response',
      'http_protocol_error',
      new Error('a 416, although the request had no range'),
    );
}

/** Returns the Range that was sent to the upstream (upstream/headers/request-lines.ts). */
function rangeOf({ headers, operation, method }: RangeRequest): string | undefined {
  return operation.ranges && method !== 'HEAD' ? headers.get('range') : undefined;
}

/** Whether a 206 lies within the range of the request. If the request has several ranges, every form of 206 is allowed. */
function isRequestedPart(headers: AnswerHeaders, range: string | undefined): boolean {
  const requested = range === undefined ? null : ONE_RANGE.exec(range);
  if (range === undefined || requested === null) return range !== undefined;
  if (/^multipart\/byteranges\b/i.test(firstValueOf(headers['content-type']) ?? '')) return false;
  const given = CONTENT_RANGE.exec(firstValueOf(headers['content-range']) ?? '');
  if (given === null) return false;
  const [first, last] = [Number(given[1]), Number(given[2])];
  if (requested[1] === '') return last - first < Number(requested[2]);
  return first >= Number(requested[1]) && (requested[2] === '' || last <= Number(requested[2]));
}
