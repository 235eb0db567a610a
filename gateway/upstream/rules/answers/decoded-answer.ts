// Removes the content coding of an answer, so that rules can read it. Throws upstream_bad_response.

import { upstreamFailure } from '../../../catalogue/upstream-failure.ts';
import { codingOf, decodeBody, isDecodable } from '../../encoding/decode.ts';
import { type CompleteAnswer, JUDGED_BYTES_MAX } from '../../relay/answer-judge.ts';

/**
 * The request allowed no coding (upstream/headers/request-lines.ts), but an upstream may ignore that. Throws if the body of an answer below
 * 400 cannot be decoded, because a rule could not remove members that clients must not get. The body of an error is dropped instead,
 * because the refusal can be made from the status.
 */
export function decodedAnswer(answer: CompleteAnswer): CompleteAnswer {
  const coding = codingOf(answer.headers);
  if (coding === '' || answer.body.length === 0) return answer;
  const body = isDecodable(coding) ? decodeBody(answer.body, coding, JUDGED_BYTES_MAX) : 'invalid';
  if (typeof body === 'string') {
    if (answer.status >= 400) return answer;
    const cause = new Error(`content coding ${coding}, which the rules of the upstream cannot read`);
    throw upstreamFailure('upstream_bad_response', 'http_response_content_coding', cause);
  }
  return { ...answer, headers: { ...answer.headers, 'content-encoding': undefined }, body };
}
