// Compresses the body of one answer for the client, at once if the body is short and complete, otherwise as a stream.

import type { Forwardable } from '../../exchange/exchange.ts';
import type { CompressedForm } from './compression.ts';
import { ENCODERS, type EncoderStream } from './encoders.ts';

/** The receiver of the body of an answer, such as the response to the client. */
export interface BodySink {
  /** Returns false if the client is behind; `drain` follows. */
  write(chunk: Buffer): boolean;
  end(chunk?: Buffer): unknown;
  once(event: 'drain', listener: () => void): unknown;
  off(event: 'drain', listener: () => void): unknown;
}

/**
 * The longest body that is compressed on this thread, in a third of a millisecond. A longer body is compressed on other threads, so that
 * this thread serves other exchanges meanwhile.
 */
const AT_ONCE_BYTES_MAX = 65_536;

export class CompressedBody implements BodySink {
  readonly #form: CompressedForm;
  readonly #exchange: Pick<Forwardable, 'response' | 'trail'>;
  /** Called when the compressor has failed, so that the answer cannot be completed. Other threads run it, so it fails between two calls. */
  onError: ((error: Error) => void) | undefined;
  #stream: EncoderStream | undefined;
  #bytesOut = 0;

  constructor(form: CompressedForm, exchange: Pick<Forwardable, 'response' | 'trail'>) {
    this.#form = form;
    this.#exchange = exchange;
  }

  get headers(): CompressedForm['headers'] {
    return this.#form.headers;
  }

  /**
   * Returns the compressed body. Returns `stays` if the compressed body would not be shorter, and `streams` if the body is too long to be
   * compressed at once.
   */
  wholeOf(body: Buffer): Buffer | 'stays' | 'streams' {
    const { coding, bytesMin } = this.#form;
    if (body.length === 0 || body.length < bytesMin) return 'stays';
    if (body.length > AT_ONCE_BYTES_MAX) return 'streams';
    const encoded = ENCODERS[coding].encode(body);
    // If the client accepts no uncompressed answer, `bytesMin` is 0 and the compressed body is sent even if it is longer.
    if (encoded.length >= body.length && bytesMin > 0) return 'stays';
    this.#exchange.trail.bytesOut = encoded.length;
    this.#exchange.trail.note('compressed', coding);
    return encoded;
  }

  write(chunk: Buffer): boolean {
    return this.#begun().write(chunk);
  }

  end(chunk?: Buffer): void {
    this.#begun().end(chunk);
  }

  once(event: 'drain', listener: () => void): void {
    this.#stream?.once(event, listener);
  }

  off(event: 'drain', listener: () => void): void {
    this.#stream?.off(event, listener);
  }

  #begun(): EncoderStream {
    if (this.#stream !== undefined) return this.#stream;
    const { response, trail } = this.#exchange;
    const stream = ENCODERS[this.#form.coding].createStream();
    this.#stream = stream;
    trail.note('compressed', this.#form.coding);
    const resume = () => void stream.resume();
    stream.on('data', (bytes: Buffer) => {
      if (response.destroyed) return;
      this.#bytesOut += bytes.length;
      trail.bytesOut = this.#bytesOut;
      if (response.write(bytes)) return;
      // A client that reads slowly pauses the compressor, which pauses the upstream.
      stream.pause();
      response.once('drain', resume);
    });
    stream.on('end', () => {
      if (!response.destroyed) response.end();
    });
    stream.on('error', (error: Error) => this.onError?.(error));
    response.once('close', () => void stream.destroy());
    return stream;
  }
}
