// Holds an answer back until it is stored. A client may repeat its request as soon as it has the answer, and the repetition must then find
// the stored answer.

import type { Recording } from '../../exchange/exchange.ts';
import type { Control } from '../../http1/client/wire.ts';
import { CollectedBody } from './collected-body.ts';
import type { Relay } from './relay.ts';

type HeldAttempt = Pick<Relay, 'answer' | 'exchange' | 'isEnded' | 'stopDeadlines' | 'notePassing' | 'clientLeft'>;

export class HeldAnswer {
  /** Whether the answer is stored, or the store has failed, so that the client gets the answer. */
  isStored = false;
  readonly #recording: Recording;
  readonly #body: CollectedBody;
  readonly #relay: HeldAttempt;

  constructor(recording: Recording, relay: HeldAttempt) {
    this.#recording = recording;
    this.#body = new CollectedBody(recording.bodyBytesMax);
    this.#relay = relay;
  }

  data(control: Control, chunk: Buffer): void {
    const { answer } = this.#relay;
    if (this.isStored || answer.dropsBody) {
      answer.data(control, chunk);
      return;
    }
    answer.countOut(chunk);
    if (!this.#body.add(chunk)) void this.#passTooLong(control);
  }

  /** @param whole the body, if it did not arrive in chunks */
  end(whole?: Buffer): void {
    if (this.isStored) this.#relay.answer.end(whole);
    else void this.#endOnceStored(whole ?? this.#body.whole());
  }

  async #endOnceStored(body: Buffer): Promise<void> {
    this.#relay.stopDeadlines();
    await this.store(body);
    if (!this.#relay.isEnded) this.#relay.answer.end(body);
  }

  /** Passes on an answer that has become too long to be stored. First, the store notes that the request was answered. */
  async #passTooLong(control: Control): Promise<void> {
    control.pause();
    await this.store(undefined);
    if (this.#relay.isEnded) return;
    this.#relay.answer.beginBody();
    this.#relay.notePassing();
    if (this.#relay.answer.write(this.#body.whole())) control.resume();
  }

  /**
   * Stores the answer. Resolves when it is stored, or when storing it has failed. If the client has left by then, the exchange ends.
   *
   * @param body undefined for a stream and for a body that is too long, for which the store notes only that the request was answered
   */
  async store(body: Buffer | undefined): Promise<void> {
    const { answer, exchange } = this.#relay;
    const headers = answer.clientHeaders([]);
    const isShort = body !== undefined && body.length <= this.#recording.bodyBytesMax;
    await this.#recording.keep({ status: answer.status, headers, body: isShort ? body : undefined });
    this.isStored = true;
    if (exchange.response.destroyed) this.#relay.clientLeft();
  }
}
