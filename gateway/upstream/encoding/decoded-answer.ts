// An answer that rules read, without its content coding. The upstream was asked for none (forward.ts), but may ignore that. Throws
// upstream_bad_response.

import type { CompleteAnswer } from '../answers/judge.ts';
import { BUFFERED_BYTES_MAX } from '../buffered-answer.ts';
import { upstreamFailure } from '../failure.ts';
import { codingOf, decodeBody, isDecodable } from './decode.ts';

/**
 * The same answer if it has no coding. Refuses one that cannot be decoded, because a rule might have removed a part of it. The body of an
 * error never reaches the client as it is, so such an answer is judged by its status.
 */
export function decodedAnswer(answer: CompleteAnswer): CompleteAnswer {
  const coding = codingOf(answer.headers);
  if (coding === '' || answer.body.length === 0) return answer;
  const body = isDecodable(coding) ? decodeBody(answer.body, coding, BUFFERED_BYTES_MAX) : 'invalid';
  if (typeof body === 'string') {
    if (answer.status >= 400) return answer;
    const cause = new Error(`content coding ${coding}, which the rules of the upstream cannot read`);
    throw upstreamFailure('upstream_bad_response', 'http_response_content_coding', cause);
  }
  return { ...answer, headers: { ...answer.headers, 'content-encoding': undefined }, body };
}
