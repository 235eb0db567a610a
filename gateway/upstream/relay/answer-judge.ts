// What the relay asks the judge of an upstream that has rules or a credential (upstream/attempts/judged-attempt.ts).

import type { GatewayError } from '../../catalogue/errors.ts';
import type { AnswerHandler, AnswerHeaders } from '../../http1/client/wire.ts';
import type { AttemptFailure } from './relay-owner.ts';

/** Largest body that is read and judged, before and after decoding. A longer body fails the attempt with upstream_bad_response. */
export const JUDGED_BYTES_MAX = 8_388_608;

/** An answer that was read to its end. The client has received nothing of it. */
export interface CompleteAnswer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly body: Buffer;
}

export type AnswerTreatment =
  /** The answer goes to the client. The judge may have changed its headers and its body. */
  | { readonly kind: 'pass'; readonly answer: CompleteAnswer }
  /** The attempt fails with the refusal for the client. */
  | { readonly kind: 'fail'; readonly error: GatewayError; readonly failure: AttemptFailure }
  /** The client gets none of the answer. The same attempt continues with its next request. */
  | { readonly kind: 'next' };

export interface AnswerJudge {
  /** Whether the request in progress is the read of a record that precedes the request of the client. */
  readonly readsRecord: boolean;
  /** Returns `pass` if the client gets the answer as it arrives, and `read` if it is read to its end and judged. */
  judgeHead(status: number, headers: AnswerHeaders): 'pass' | 'read';
  judge(answer: CompleteAnswer): AnswerTreatment;
  /**
   * Sends the first request of the attempt. After `judge` has returned `next`, sends the request that is made from the record, or the same
   * request once more. The relay gets the answer.
   */
  sendNext(relay: AnswerHandler): void;
}
