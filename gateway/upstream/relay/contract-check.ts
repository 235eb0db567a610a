// Checks the status, the media type and the body of an answer against the contract.
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
import { isStatusRequested } from './requested-status.ts';

/** Checks one item of a stream against the contract. Returns one sentence per violation. */
export type ItemCheck = (item: unknown) => readonly string[];

/** Checks answers against their contract. */
export interface ContractCheck {
  undeclared(
    operation: Operation,
    status: number,
    contentType: string | undefined,
    hasBody: boolean,
    isRequested: boolean,
  ): ContractDeviation | undefined;
  modeFor(
    operation: Operation,
    status: number,
    contentType: string | undefined,
    isRequested: boolean,
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
  const isRequested = isStatusRequested(status, headers, exchange);
  const undeclared = check.undeclared(operation, status, contentType, hasBody, isRequested);
  if (undeclared !== undefined) {
    answer.protection = takeUndeclared(undeclared, trail);
    return 'pass';
  }
  return dropsBody ? 'pass' : checkedMode(check.modeFor(operation, status, contentType, isRequested), headers);
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
