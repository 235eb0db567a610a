// The body of an answer that is checked against its contract. In mode `report`, the client gets the body as it arrives, and a copy is
// checked at the end. In mode `refuse`, the client gets the body only after the check.

import { upstreamFailure } from '../../catalogue/upstream-failure.ts';
import type { Control } from '../../http1/client/wire.ts';
import type { ClientAnswer } from './client-answer.ts';
import { CollectedBody } from './collected-body.ts';
import { CHECKED_BYTES_MAX, violationsIn } from './contract-check.ts';
import type { HeldAnswer } from './held-answer.ts';
import type { Relay } from './relay.ts';

type CheckedAttempt = Pick<Relay, 'exchange' | 'contractCheck' | 'answer' | 'fail'>;

export class CheckedBody {
  readonly #mode: 'report' | 'refuse';
  readonly #read = new CollectedBody(CHECKED_BYTES_MAX);
  readonly #relay: CheckedAttempt;
  readonly #next: ClientAnswer | HeldAnswer;

  /** @param next receives the body for the client, which is the answer itself, or the answer that is held until it is stored */
  constructor(mode: 'report' | 'refuse', relay: CheckedAttempt, next: ClientAnswer | HeldAnswer) {
    this.#mode = mode;
    this.#relay = relay;
    this.#next = next;
  }

  data(control: Control, chunk: Buffer): void {
    const isShort = this.#read.add(chunk);
    if (!isShort) this.#read.drop();
    if (this.#mode === 'report') this.#next.data(control, chunk);
    // A body that is too long fails the check at once, without waiting for its end.
    else if (!isShort) this.end();
  }

  end(): void {
    const { exchange, contractCheck, answer } = this.#relay;
    const { operation, trail } = exchange;
    const violations = violationsIn(this.#read, answer.status, answer.headers, operation, contractCheck);
    if (violations.length > 0) trail.note('answerViolations', violations);
    if (this.#mode === 'report') this.#next.end();
    else if (violations.length > 0)
      this.#relay.fail(upstreamFailure('upstream_contract_violation', 'http_protocol_error'), 'other');
    else {
      const whole = this.#read.whole();
      trail.bytesOut = whole.length;
      this.#next.end(whole);
    }
  }
}
