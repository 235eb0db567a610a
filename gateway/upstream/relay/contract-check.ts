// Checks the status, the media type and the body of an answer against the contract.
// Throws upstream_bad_response (media type, coding) and upstream_contract_violation (status).

import { upstreamFailure } from '../../catalogue/upstream-failure.ts';
import type { AnswerCheck, UndeclaredAnswer } from '../../exchange/answer-check.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { TrailNotes } from '../../exchange/notes.ts';
import type { Operation, Reaction } from '../../exchange/operation.ts';
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

/** `sandbox`: the body is not checked, and browsers run no scripts in it. */
type BodyReaction = Reaction | 'sandbox';

/** Decides by the head of an answer below 400 what happens to its body. Throws if the contract refuses the answer. */
export function reactionToBody(check: AnswerCheck, exchange: Forwardable, answer: ClientAnswer): BodyReaction {
  const { operation, trail } = exchange;
  const { status, headers } = answer;
  const isRequested = isStatusRequested(status, headers, exchange);
  const reaction = check.reactionTo(operation, answer, firstValueOf(headers['content-type']), isRequested);
  return typeof reaction === 'string' ? possibleReaction(reaction, headers) : reactionToUndeclared(reaction, trail);
}

/** Refuses an answer whose status or media type the contract does not declare, or lets its body pass. */
function reactionToUndeclared(answer: UndeclaredAnswer, trail: TrailNotes): BodyReaction {
  const { what, reaction, text, isActive } = answer;
  if (reaction !== 'off') trail.note('answerViolations', [text]);
  if (reaction === 'refuse') {
    const code = what === 'status' ? 'upstream_contract_violation' : 'upstream_bad_response';
    throw upstreamFailure(code, 'http_protocol_error', new Error(`undeclared ${what}`));
  }
  return isActive ? 'sandbox' : 'off';
}

/**
 * Returns the reaction to a declared body. With `refuse`, throws upstream_bad_response for an encoded answer, because the request allowed
 * no coding (upstream/headers/request-lines.ts). With `report`, a decoded copy of the body is checked; an answer with a coding that the
 * gateway does not know passes unchecked.
 */
function possibleReaction(reaction: Reaction, headers: AnswerHeaders): Reaction {
  const coding = reaction === 'off' ? '' : codingOf(headers);
  if (coding === '') return reaction;
  if (reaction === 'report') return isDecodable(coding) ? reaction : 'off';
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
