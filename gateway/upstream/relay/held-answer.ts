// Holds an answer back until it is stored. A client may repeat its request as soon as it has the answer, and the repetition must then find
// the stored answer.

import type { Forwardable, Recording } from '../../exchange/exchange.ts';
import type { Control } from '../../http1/client/wire.ts';
import type { AnswerOwner } from './answer-owner.ts';
import type { ClientAnswer } from './client-answer.ts';
import { CollectedBody } from './collected-body.ts';

export class HeldAnswer {
  /** Whether the answer is stored, or the store has failed. From then on the client gets the answer. */
  isStored = false;
  readonly #recording: Recording;
  readonly #body: CollectedBody;
  readonly #exchange: Forwardable;
  readonly #answer: ClientAnswer;
  readonly #relay: AnswerOwner;
  readonly #clock: { stop(): void };

  /** @param clock stopped when the whole answer has arrived, because deadlines of the upstream no longer apply */
  constructor(
    recording: Recording,
    exchange: Forwardable,
    answer: ClientAnswer,
    relay: AnswerOwner,
    clock: { stop(): void },
  ) {
    this.#recording = recording;
    this.#body = new CollectedBody(recording.bodyBytesMax);
    this.#exchange = exchange;
    this.#answer = answer;
    this.#relay = relay;
    this.#clock = clock;
  }

  data(control: Control, chunk: Buffer): void {
    if (this.isStored || this.#answer.dropsBody) {
      this.#answer.data(control, chunk);
      return;
    }
    this.#answer.countOut(chunk);
    if (!this.#body.add(chunk)) void this.#passTooLong(control);
  }

  /** @param whole the body, if it did not arrive in chunks */
  end(whole?: Buffer): void {
    if (this.isStored) this.#answer.end(whole);
    else void this.#endOnceStored(whole ?? this.#body.whole());
  }

  async #endOnceStored(body: Buffer): Promise<void> {
    this.#clock.stop();
    await this.store(body);
    if (!this.#relay.ended) this.#answer.end(body);
  }

  /** Passes on an answer that has become too long to be stored. First, the store notes that the request was answered. */
  async #passTooLong(control: Control): Promise<void> {
    control.pause();
    await this.store(undefined);
    if (this.#relay.ended) return;
    this.#answer.beginBody();
    this.#relay.noteProgress();
    this.#relay.passesSince = performance.now();
    if (this.#answer.write(this.#body.whole())) control.resume();
  }

  /**
   * Stores the answer. Resolves when it is stored, or when storing it has failed. If the client has left by then, the exchange ends.
   *
   * @param body undefined for a stream and for a body that is too long: the store then notes only that the request was answered
   */
  async store(body: Buffer | undefined): Promise<void> {
    const { status } = this.#answer;
    const headers = this.#answer.clientHeaders([]);
    const isShort = body !== undefined && body.length <= this.#recording.bodyBytesMax;
    await this.#recording.keep({ status, headers, body: isShort ? body : undefined });
    this.isStored = true;
    if (this.#exchange.response.destroyed) this.#relay.clientGone();
  }
}
