// An answer that is read to its end, and then judged. The client has received nothing of it.

import type { GatewayError } from '../../catalogue/errors.ts';
import { upstreamFailure } from '../../catalogue/upstream-failure.ts';
import type { AnswerHeaders } from '../../http1/client/wire.ts';
import { type AnswerJudge, type AnswerTreatment, JUDGED_BYTES_MAX } from './answer-judge.ts';
import { CollectedBody } from './collected-body.ts';
import { answerRefusal } from './error-body.ts';
import type { Received, Receiver } from './receiver.ts';
import type { RelayOwner } from './relay-owner.ts';

export class UnjudgedAnswer implements Receiver {
  readonly #read = new CollectedBody(JUDGED_BYTES_MAX);
  readonly #judge: AnswerJudge;
  readonly #owner: RelayOwner;
  readonly #status: number;
  readonly #headers: AnswerHeaders;

  constructor(judge: AnswerJudge, owner: RelayOwner, status: number, headers: AnswerHeaders) {
    this.#judge = judge;
    this.#owner = owner;
    this.#status = status;
    this.#headers = headers;
  }

  /** Throws upstream_bad_response as soon as the body has become too long. */
  data(chunk: Buffer): Received | undefined {
    if (!this.#read.add(chunk)) throw upstreamFailure('upstream_bad_response', 'http_response_body_size');
    return undefined;
  }

  end(): AnswerTreatment {
    return this.#judge.judge({ status: this.#status, headers: this.#headers, body: this.#read.whole() });
  }

  refusal(): GatewayError {
    return answerRefusal(this.#owner, this.#status, this.#headers, this.#read.whole());
  }
}
