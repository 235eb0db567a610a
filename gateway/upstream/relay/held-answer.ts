// Holds an answer back until it is stored. A client may repeat its request as soon as it has the answer, and the repetition must then find
// the stored answer.

import type { Forwardable, Recording } from '../../exchange/exchange.ts';
import type { ExchangeClock } from '../deadlines/exchange-clock.ts';
import type { ClientAnswer } from './client-answer.ts';
import { CollectedBody } from './collected-body.ts';
import type { Received } from './received.ts';
import type { Relay } from './relay.ts';

export class HeldAnswer {
  /** Whether the answer is stored, or the store has failed, so that the client gets the answer. */
  isStored = false;
  readonly #exchange: Forwardable;
  readonly #recording: Recording;
  readonly #answer: ClientAnswer;
  readonly #clock: Pick<ExchangeClock, 'stop'>;
  readonly #relay: Relay;
  readonly #body: CollectedBody;

  constructor(exchange: Forwardable, answer: ClientAnswer, clock: ExchangeClock, relay: Relay) {
    this.#exchange = exchange;
    this.#recording = exchange.recording as Recording;
    this.#answer = answer;
    this.#clock = clock;
    this.#relay = relay;
    this.#body = new CollectedBody(this.#recording.bodyBytesMax);
  }

  data(chunk: Buffer): Received {
    if (this.isStored || this.#answer.dropsBody) return this.#answer.data(chunk);
    this.#answer.countOut(chunk);
    if (!this.#body.add(chunk)) void this.#passTooLong();
    return undefined;
  }

  /** @param whole the body, if it did not arrive in chunks */
  end(whole?: Buffer): Received {
    if (this.isStored) return this.#answer.end(whole);
    void this.#endOnceStored(whole ?? this.#body.whole());
    return undefined;
  }

  async #endOnceStored(body: Buffer): Promise<void> {
    // The whole answer has arrived, and the deadlines are for the upstream.
    this.#clock.stop();
    await this.store(body);
    if (!this.#relay.isEnded) this.#relay.proceed(this.#answer.end(body));
  }

  /** Passes on an answer that has become too long to be stored. First, the store notes that the request was answered. */
  async #passTooLong(): Promise<void> {
    this.#answer.control?.pause();
    await this.store(undefined);
    if (this.#relay.isEnded) return;
    this.#answer.beginBody();
    if (this.#answer.write(this.#body.whole())) this.#answer.control?.resume();
  }

  /**
   * Stores the answer. Resolves when it is stored, or when storing it has failed. If the client has left by then, the exchange ends.
   *
   * @param body undefined for a stream and for a body that is too long, for which the store notes only that the request was answered
   */
  async store(body: Buffer | undefined): Promise<void> {
    const headers = this.#answer.clientHeaders([]);
    const isShort = body !== undefined && body.length <= this.#recording.bodyBytesMax;
    await this.#recording.keep({ status: this.#answer.status, headers, body: isShort ? body : undefined });
    this.isStored = true;
    if (this.#exchange.response.destroyed) this.#relay.clientLeft();
  }
}
