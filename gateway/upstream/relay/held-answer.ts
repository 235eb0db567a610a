// Holds an answer back until it is stored. A client may repeat its request as soon as it has the answer, and the repetition must then find
// the stored answer.

import type { Recording } from '../../exchange/exchange.ts';
import type { ExchangeClock } from '../deadlines/exchange-clock.ts';
import type { ClientAnswer } from './client-answer.ts';
import { CollectedBody } from './collected-body.ts';
import type { Received, Receiver, Release } from './receiver.ts';

export class HeldAnswer implements Receiver {
  /** Whether the answer is stored, or the store has failed, so that the client gets the answer. */
  isStored = false;
  readonly #recording: Recording;
  readonly #answer: ClientAnswer;
  readonly #clock: Pick<ExchangeClock, 'stop'>;
  readonly #body: CollectedBody;

  constructor(recording: Recording, answer: ClientAnswer, clock: ExchangeClock) {
    this.#recording = recording;
    this.#answer = answer;
    this.#clock = clock;
    this.#body = new CollectedBody(recording.bodyBytesMax);
  }

  data(chunk: Buffer): Received | undefined {
    if (this.isStored || this.#answer.dropsBody) return this.#answer.data(chunk);
    this.#answer.countOut(chunk);
    if (this.#body.add(chunk)) return undefined;
    return this.storeWithoutBody(() => {
      this.#answer.beginBody();
      if (this.#answer.write(this.#body.whole())) this.#answer.resume();
    });
  }

  /** @param whole the body, if it did not arrive in chunks */
  end(whole?: Buffer): Received {
    if (this.isStored) return this.#answer.end(whole);
    const body = whole ?? this.#body.whole();
    // The whole answer has arrived, and the deadlines are for the upstream.
    this.#clock.stop();
    return this.#store(body, () => this.#answer.end(body));
  }

  /**
   * Stores only that the request was answered, because the answer is a stream or its body is too long. Until then, pauses the upstream.
   *
   * @param begin sends the first part of the answer, and resumes the upstream unless the client is behind
   */
  storeWithoutBody(begin: () => void): Received {
    this.#answer.pause();
    return this.#store(undefined, () => {
      begin();
      return undefined;
    });
  }

  #store(body: Buffer | undefined, release: Release): Received {
    return { kind: 'store', stored: this.#keep(body), release };
  }

  /** Resolves when the answer is stored, or when storing it has failed. */
  async #keep(body: Buffer | undefined): Promise<void> {
    const headers = this.#answer.clientHeaders([]);
    const isShort = body !== undefined && body.length <= this.#recording.bodyBytesMax;
    await this.#recording.keep({ status: this.#answer.status, headers, body: isShort ? body : undefined });
    this.isStored = true;
  }
}
