// Holds an answer that is stored for repetitions of its request. The client gets nothing of it before it is stored, so that an immediate
// repetition finds it.

import type { Recording } from '../../exchange.ts';

export class HeldAnswer {
  readonly #recording: Recording;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(recording: Recording) {
    this.#recording = recording;
  }

  /** Adds a chunk. Returns false if the answer has become too long to be stored. */
  add(chunk: Buffer): boolean {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    return this.#bytes <= this.#recording.bodyBytesMax;
  }

  /** Returns the bytes that were held back. */
  body(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /**
   * Resolves when the answer is stored, or when storing it has failed.
   *
   * @param body undefined: it is a stream, or too long. Then the store notes only that the request was answered.
   */
  store(status: number, headers: readonly string[], body: Buffer | undefined): Promise<void> {
    const isShort = body !== undefined && body.length <= this.#recording.bodyBytesMax;
    return this.#recording.keep({ status, headers, body: isShort ? body : undefined });
  }
}
