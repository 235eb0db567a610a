// Checks the status, the media type and the body of an answer against the contract. Also checks that a 206, 304 or 416 fits the request.
// Throws upstream_bad_response (media type, coding) and upstream_contract_violation (status).

import { upstreamFailure } from '../../catalogue/upstream-failure.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { TrailNotes } from '../../exchange/notes.ts';
import type { Operation } from '../../exchange/operation.ts';
import type { AnswerHeaders } from '../../http1/client/wire.ts';
import { codingOf, type DecodingFault, decodeBody, isDecodable } from '../encoding/decode.ts';
import { firstValueOf } from '../headers/answer-headers.ts';
import type { ClientAnswer } from './client-answer.ts';
import type { CollectedBody } from './collected-body.ts';

/** Checks one item of a stream against the contract. Returns one sentence per violation. */
export type ItemCheck = (item: unknown) => readonly string[];

/** Checks answers against their contract. */
export interface ContractCheck {
  undeclared(
    operation: Operation,
    status: number,
    contentType: string | undefined,
    hasBody: boolean,
    isAsked: boolean,
  ): ContractDeviation | undefined;
  modeFor(
    operation: Operation,
    status: number,
    contentType: string | undefined,
    isAsked: boolean,
  ): 'refuse' | 'report' | 'off';
  violations(operation: Operation, status: number, body: Buffer, contentType: string | undefined): readonly string[];
  /** The check of each item of a stream; undefined if the contract has none. */
  itemCheck(operation: Operation, status: number, contentType: string | undefined): ItemCheck | undefined;
}

interface ContractDeviation {
  readonly what: 'status' | 'media type';
  readonly reaction: 'report' | 'refuse' | 'off';
  /** A text for operators: what the contract declares, what the upstream sent, and the line to add to the contract. */
  readonly text: string;
  /** Whether browsers run scripts in a body of this media type. */
  readonly isActive: boolean;
}

/** Longer answers are not checked. The bound applies before and after decoding. */
export const CHECKED_BYTES_MAX = 1_048_576;
const TOO_LARGE = 'the body is too large to be checked';
const DECODING_FAULTS: Readonly<Record<DecodingFault, string>> = {
  'too large': TOO_LARGE,
  invalid: 'the body does not have the coding that Content-Encoding names',
};

/**
 * This header is added to an undeclared page, so that browsers treat the page as one of another origin and run no scripts in it. No
 * contract says that the service publishes pages, so the page may be an attack. Browsers obey this policy in addition to the policy of
 * every answer.
 */
const SANDBOX_HEADER = Object.freeze(['Content-Security-Policy', 'sandbox']);

/**
 * Admits an answer below 400 by its head, or throws if the contract refuses it. Protects the client from scripts in an undeclared answer
 * (`protection` of `answer`). Returns how the body is checked.
 */
export function admitHead(
  check: ContractCheck,
  exchange: Forwardable,
  answer: ClientAnswer,
): 'refuse' | 'report' | 'pass' {
  const { operation, trail } = exchange;
  const { status, headers, hasBody, dropsBody } = answer;
  const contentType = firstValueOf(headers['content-type']);
  const isAsked = wasAsked(status, headers, exchange);
  const undeclared = check.undeclared(operation, status, contentType, hasBody, isAsked);
  if (undeclared !== undefined) {
    answer.protection = takeUndeclared(undeclared, trail);
    return 'pass';
  }
  return dropsBody ? 'pass' : checkedMode(check.modeFor(operation, status, contentType, isAsked), headers);
}

/**
 * Refuses an answer whose status or media type the contract does not declare, or lets it pass. Returns the headers that protect the client
 * from scripts in the body; undefined if the media type has no scripts.
 */
function takeUndeclared(
  { what, reaction, text, isActive }: ContractDeviation,
  trail: TrailNotes,
): readonly string[] | undefined {
  if (reaction !== 'off') trail.note('answerViolations', [text]);
  if (reaction === 'refuse') {
    const code = what === 'status' ? 'upstream_contract_violation' : 'upstream_bad_response';
    throw upstreamFailure(code, 'http_protocol_error', new Error(`undeclared ${what}`));
  }
  return isActive ? SANDBOX_HEADER : undefined;
}

/**
 * Returns how the body is checked. In mode `refuse`, throws upstream_bad_response for an encoded answer, because the request allowed no
 * coding (upstream/headers/request-lines.ts). In mode `report`, a decoded copy of the body is checked; an answer with a coding that the
 * gateway does not know passes unchecked.
 */
function checkedMode(mode: 'refuse' | 'report' | 'off', headers: AnswerHeaders): 'refuse' | 'report' | 'pass' {
  if (mode === 'off') return 'pass';
  const coding = codingOf(headers);
  if (coding === '') return mode;
  if (mode === 'report') return isDecodable(coding) ? mode : 'pass';
  const cause = new Error(`content coding ${coding}, although the request allowed none`);
  throw upstreamFailure('upstream_bad_response', 'http_response_content_coding', cause);
}

/** Returns the contract violations of a complete body, one sentence for each. A body that is too long gives one violation. */
export function violationsIn(
  collected: CollectedBody,
  status: number,
  headers: AnswerHeaders,
  operation: Operation,
  check: ContractCheck,
): readonly string[] {
  if (collected.isTooLong) return [TOO_LARGE];
  const decoded = decodeBody(collected.whole(), codingOf(headers), CHECKED_BYTES_MAX);
  if (typeof decoded === 'string') return [DECODING_FAULTS[decoded]];
  return check.violations(operation, status, decoded, firstValueOf(headers['content-type']));
}

type Asking = Pick<Forwardable, 'headers' | 'operation' | 'method'>;

/** One range of bytes: `a-`, `a-b`, or `-n` for the last n bytes. */
const ONE_RANGE = /^bytes[ \t]*=[ \t]*(\d{0,18})-(\d{0,18})[ \t]*$/i;
const CONTENT_RANGE = /^bytes (\d{1,18})-(\d{1,18})\/(\d{1,18}|\*)$/i;

/**
 * Whether the request allows the status of its answer. A 206 or a 416 answers only a request with a range, and a 304 answers only a
 * conditional request (RFC 9110 sections 13 and 14). Returns true for all other statuses.
 */
export function wasAsked(status: number, headers: AnswerHeaders, exchange: Asking): boolean {
  if (status === 206) return isAskedPart(headers, rangeOf(exchange));
  if (status === 416) return rangeOf(exchange) !== undefined;
  if (status === 304) return exchange.headers.has('if-none-match') || exchange.headers.has('if-modified-since');
  return true;
}

/** Throws upstream_bad_response for a 416 if the request had no range. */
export function refuseUnaskedRange(status: number, headers: AnswerHeaders, exchange: Asking): void {
  if (!wasAsked(status, headers, exchange))
    throw upstreamFailure('upstream_bad_response', 'http_protocol_error', new Error('an unasked 416'));
}

/** Returns the Range that was sent to the upstream (upstream/headers/request-lines.ts). */
function rangeOf({ headers, operation, method }: Asking): string | undefined {
  return operation.ranges && method !== 'HEAD' ? headers.get('range') : undefined;
}

/** Whether a 206 lies within the range of the request. If the request has several ranges, every form of 206 is allowed. */
function isAskedPart(headers: AnswerHeaders, range: string | undefined): boolean {
  const asked = range === undefined ? null : ONE_RANGE.exec(range);
  if (range === undefined || asked === null) return range !== undefined;
  if (/^multipart\/byteranges\b/i.test(firstValueOf(headers['content-type']) ?? '')) return false;
  const given = CONTENT_RANGE.exec(firstValueOf(headers['content-range']) ?? '');
  if (given === null) return false;
  const [first, last] = [Number(given[1]), Number(given[2])];
  if (asked[1] === '') return last - first < Number(asked[2]);
  return first >= Number(asked[1]) && (asked[2] === '' || last <= Number(asked[2]));
}
