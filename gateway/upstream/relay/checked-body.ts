// The body of an answer that is checked against its contract. With the reaction `report`, the client gets the body as it arrives, and a
// copy is checked at the end. With the reaction `refuse`, the client gets the body only after the check.

import { upstreamFailure } from '../../catalogue/upstream-failure.ts';
import type { AnswerCheck } from '../../exchange/answer-check.ts';
import type { Forwardable } from '../../exchange/exchange.ts';
import type { ClientAnswer } from './client-answer.ts';
import { CollectedBody } from './collected-body.ts';
import { CHECKED_BYTES_MAX, violationsIn } from './contract-check.ts';
import type { HeldAnswer } from './held-answer.ts';
import type { Received, Receiver } from './receiver.ts';

export class CheckedBody implements Receiver {
  readonly #reaction: 'report' | 'refuse';
  readonly #read = new CollectedBody(CHECKED_BYTES_MAX);
  readonly #exchange: Forwardable;
  readonly #check: AnswerCheck;
  readonly #answer: ClientAnswer;
  readonly #next: ClientAnswer | HeldAnswer;

  /** @param next receives the body for the client: the answer itself, or the answer that is held until it is stored */
  constructor(
    reaction: 'report' | 'refuse',
    exchange: Forwardable,
    check: AnswerCheck,
    answer: ClientAnswer,
    next: ClientAnswer | HeldAnswer,
  ) {
    this.#reaction = reaction;
    this.#exchange = exchange;
    this.#check = check;
    this.#answer = answer;
    this.#next = next;
  }

  data(chunk: Buffer): Received | undefined {
    const isShort = this.#read.add(chunk);
    if (!isShort) this.#read.drop();
    if (this.#reaction === 'report') return this.#next.data(chunk);
    // A body that is too long fails the check at once, without waiting for its end.
    return isShort ? undefined : this.end();
  }

  end(): Received | undefined {
    const { operation, trail } = this.#exchange;
    const violations = violationsIn(this.#check, operation, this.#answer, this.#read);
    if (violations.length > 0) {
      trail.note('answerViolations', violations);
      trail.note('answersAlike', this.#check.standsFor(operation));
    }
    if (this.#reaction === 'report') return this.#next.end();
    if (violations.length > 0) {
      const error = upstreamFailure('upstream_contract_violation', 'http_protocol_error');
      return { kind: 'fail', error, failure: 'other' };
    }
    const whole = this.#read.whole();
    trail.bytesOut = whole.length;
    return this.#next.end(whole);
  }
}
