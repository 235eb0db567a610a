// Checks the status, the media type and the body of an answer against the contract.
// Throws upstream_bad_response (media type, coding) and upstream_contract_violation (status).

import { upstreamFailure } from '../../catalogue/upstream-failure.ts';
import type { AnswerCheck, UndeclaredAnswer } from '../../exchange/answer-check.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { TrailNotes } from '../../exchange/notes.ts';
import type { Operation } from '../../exchange/operation.ts';
import type { AnswerHeaders } from '../../http1/client/wire.ts';
import { codingOf, type DecodingFault, decodeBody, isDecodable } from '../encoding/decode.ts';
import { firstValueOf } from '../headers/answer-headers.ts';
import type { ClientAnswer } from './client-answer.ts';
import type { CollectedBody } from './collected-body.ts';
import { isStatusRequested } from './requested-status.ts';

/** Longer answers are not checked. The bound applies before and after decoding. */
export const CHECKED_BYTES_MAX = 1_048_576;
const TOO_LARGE = 'the body is too large to be checked';
const DECODING_FAULTS: Readonly<Record<DecodingFault, string>> = {
  'too large': TOO_LARGE,
  invalid: 'the body does not have the coding that Content-Encoding names',
};

/**
 * What happens to the body of an answer:
 *
 * - `refuse`: the client gets it once it has passed its check
 * - `report`: the client gets it as it arrives, and a copy is checked
 * - `pass`: it is not checked
 * - `sandbox`: it is not checked, and browsers run no scripts in it
 */
type BodyTreatment = 'refuse' | 'report' | 'pass' | 'sandbox';

/** Decides by the head of an answer below 400 how its body is treated. Throws if the contract refuses the answer. */
export function bodyTreatmentOf(check: AnswerCheck, exchange: Forwardable, answer: ClientAnswer): BodyTreatment {
  const { operation, trail } = exchange;
  const { status, headers, hasBody, dropsBody } = answer;
  const contentType = firstValueOf(headers['content-type']);
  const isRequested = isStatusRequested(status, headers, exchange);
  const undeclared = check.undeclared(operation, status, contentType, hasBody, isRequested);
  if (undeclared !== undefined) return undeclaredTreatment(undeclared, trail);
  return dropsBody ? 'pass' : checkedTreatment(check.modeFor(operation, status, contentType, isRequested), headers);
}

/** Refuses an answer whose status or media type the contract does not declare, or lets its body pass. */
function undeclaredTreatment({ what, reaction, text, isActive }: UndeclaredAnswer, trail: TrailNotes): BodyTreatment {
  if (reaction !== 'off') trail.note('answerViolations', [text]);
  if (reaction === 'refuse') {
    const code = what === 'status' ? 'upstream_contract_violation' : 'upstream_bad_response';
    throw upstreamFailure(code, 'http_protocol_error', new Error(`undeclared ${what}`));
  }
  return isActive ? 'sandbox' : 'pass';
}

/**
 * Returns the treatment of a declared body. In mode `refuse`, throws upstream_bad_response for an encoded answer, because the request
 * allowed no coding (upstream/headers/request-lines.ts). In mode `report`, a decoded copy of the body is checked; an answer with a coding
 * that the gateway does not know passes unchecked.
 */
function checkedTreatment(mode: 'refuse' | 'report' | 'off', headers: AnswerHeaders): BodyTreatment {
  if (mode === 'off') return 'pass';
  const coding = codingOf(headers);
  if (coding === '') return mode;
  if (mode === 'report') return isDecodable(coding) ? mode : 'pass';
  const cause = new Error(`content coding ${coding}, although the request allowed none`);
  throw upstreamFailure('upstream_bad_response', 'http_response_content_coding', cause);
}

/** Returns the contract violations of a complete body, one sentence for each. A body that is too long gives one violation. */
export function violationsIn(
  check: AnswerCheck,
  operation: Operation,
  { status, headers }: ClientAnswer,
  body: CollectedBody,
): readonly string[] {
  if (body.isTooLong) return [TOO_LARGE];
  const decoded = decodeBody(body.whole(), codingOf(headers), CHECKED_BYTES_MAX);
  if (typeof decoded === 'string') return [DECODING_FAULTS[decoded]];
  return check.violations(operation, status, decoded, firstValueOf(headers['content-type']));
}
