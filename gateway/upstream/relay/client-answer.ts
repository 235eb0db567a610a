// Writes the answer of an upstream to its client: the head, the body with backpressure, and its compression.

import type { Forwardable } from '../../exchange/exchange.ts';
import type { AnswerHeaders, Control } from '../../http1/client/wire.ts';
import { atEndOfTurn } from '../../sockets/end-of-turn.ts';
import type { ExchangeClock } from '../deadlines/exchange-clock.ts';
import { type BodySink, CompressedBody } from '../encoding/compressed-body.ts';
import { clientAnswerHeaders, declaredLengthOf, type WithheldNotes } from '../headers/answer-headers.ts';
import type { UpstreamRoute } from '../routes.ts';
import { COMPLETE, FIRST, type Received, type Receiver } from './receiver.ts';

/** The largest number of withheld fields in the log line. It is bounded, because the upstream chooses the names. */
const WITHHELD_MAX = 16;

/**
 * The largest body that is read and dropped after a HEAD that was sent as GET, so that the connection can be used again. For a longer body,
 * a new connection costs less.
 */
export const DROPPED_BYTES_MAX = 65_536;

/**
 * Browsers treat a page with this header as a page of another origin, and run no scripts in it. No contract says that the service publishes
 * pages, so an undeclared page may be an attack. Browsers obey this policy in addition to the policy of every answer.
 */
const SANDBOX_HEADER = ['Content-Security-Policy', 'sandbox'] as const;

export class ClientAnswer implements Receiver, WithheldNotes {
  /** The connection of the request, or of the read of a record that precedes it. */
  control: Control | undefined;
  status = 0;
  /** The headers of the upstream. They stay unchanged until the head is written, because the check of the body uses them. */
  headers: AnswerHeaders = {};
  /** Length of the body; -1 if it is not declared. */
  length = -1;
  /** Whether the upstream's answer has a body. */
  hasBody = false;
  /** Whether the client gets no body, as after HEAD. */
  dropsBody = false;
  /** Whether browsers run no scripts in the body, because its contract does not declare it. */
  isSandboxed = false;
  /** Whether this attempt wrote the head of the client's answer. */
  #hasHead = false;
  /** The first chunk, until the head is sent. Most answers have one chunk, so head and body are sent in one write. */
  #first: Buffer | undefined;
  #bytesOut = 0;
  #droppedBytes = 0;
  #withheld: string[] | undefined;
  /** Compresses the body; undefined if the body is not compressed. */
  #compressed: CompressedBody | undefined;
  /** Receives the body after the head is written. */
  #sink: BodySink;
  /** Created when the client first falls behind. */
  #onDrain: (() => void) | undefined;
  readonly #exchange: Forwardable;
  readonly #route: Pick<UpstreamRoute, 'authorities' | 'compression'>;
  readonly #clock: ExchangeClock;

  constructor(exchange: Forwardable, route: UpstreamRoute, clock: ExchangeClock) {
    this.#exchange = exchange;
    this.#route = route;
    this.#clock = clock;
    this.#sink = exchange.response;
  }

  takeHead(status: number, headers: AnswerHeaders): void {
    this.status = status;
    this.headers = headers;
    this.length = declaredLengthOf(headers);
    const hasNoBody = status === 204 || status === 304;
    this.hasBody = !hasNoBody && this.length !== 0;
    this.dropsBody = hasNoBody || this.#exchange.method === 'HEAD';
  }

  /** Decides whether the client gets the answer compressed. Returns the compressed body; undefined if there is none. */
  chooseForm(): CompressedBody | undefined {
    const form = this.#route.compression?.formOf(this.#exchange, this.status, this.headers, this.length);
    if (form === undefined) return undefined;
    this.headers = form.headers;
    if (form.compressed === undefined) return undefined;
    if (this.dropsBody) {
      this.headers = form.compressed.headers;
      this.length = -1;
    } else this.#compressed = new CompressedBody(form.compressed, this.#exchange);
    return this.#compressed;
  }

  /** Sends a chunk. The first chunk is held back, and is sent together with the head. */
  data(chunk: Buffer): Received | undefined {
    if (this.dropsBody) {
      this.#droppedBytes += chunk.length;
      return this.#droppedBytes > DROPPED_BYTES_MAX ? this.stopReading() : undefined;
    }
    this.countOut(chunk);
    if (!this.#hasHead && this.#first === undefined) {
      this.#first = chunk;
      // A body of one chunk is written at its end, with its head. If the body is longer, the first chunk waits for the rest of its read.
      return chunk.length === this.length ? undefined : FIRST;
    }
    this.releaseFirst();
    this.write(chunk);
    return undefined;
  }

  /**
   * Sends the rest: the end of the body, or the whole answer.
   *
   * @param whole the body, if it did not arrive in chunks
   */
  end(whole?: Buffer): Received {
    if (whole !== undefined) this.#first = whole;
    if (this.#hasHead) this.#sink.end();
    else atEndOfTurn(this, writeWhole, destroy);
    return COMPLETE;
  }

  /** Stops reading a long body that the client does not get, because it sent HEAD and the upstream got GET. */
  stopReading(): Received | undefined {
    // If the upstream got HEAD, the answer has no body and the connection can be used again.
    if (this.#exchange.operation.method === 'HEAD') return undefined;
    this.control?.abort();
    return this.end();
  }

  countOut(chunk: Buffer): void {
    this.#bytesOut += chunk.length;
    this.#exchange.trail.bytesOut = this.#bytesOut;
  }

  /** Sends the head and the first chunk, unless the head is sent already. */
  releaseFirst(): void {
    if (this.#hasHead || this.#first === undefined) return;
    this.beginBody();
    this.write(this.#first);
  }

  /** Writes to the client. Returns false if the client is behind; the upstream is then not read until it has caught up. */
  write(chunk: Buffer): boolean {
    if (this.#sink.write(chunk)) return true;
    this.pause();
    this.#onDrain ??= () => {
      this.#clock.noteProgress();
      this.resume();
    };
    this.#sink.once('drain', this.#onDrain);
    return false;
  }

  /** Reads no more from the upstream, until `resume`. */
  pause(): void {
    this.control?.pause();
  }

  resume(): void {
    this.control?.resume();
  }

  /** Whether the upstream is not read, because the client has not read everything that was written. */
  get isBehind(): boolean {
    return this.control?.paused === true;
  }

  /** Writes head and body together at the end of the turn. Until then, `Connection: close` can still be added to the head. */
  writeWhole(): void {
    const { response } = this.#exchange;
    if (response.headersSent) return;
    const first = this.#first;
    const form = first && this.#compressed?.wholeOf(first);
    if (form === 'streams') {
      this.beginBody();
      this.#sink.end(first);
      return;
    }
    if (Buffer.isBuffer(form)) this.headers = this.#compressed?.headers ?? this.headers;
    const body = Buffer.isBuffer(form) ? form : first;
    this.#writeHead(this.dropsBody ? this.length : (body?.length ?? 0), this.headers);
    response.end(body);
  }

  /** Writes the head of a body that follows in pieces. */
  beginBody(): void {
    this.#clock.noteBodyBegan();
    if (this.#compressed === undefined) this.#writeHead(this.length, this.headers);
    else {
      this.#writeHead(-1, this.#compressed.headers);
      this.#sink = this.#compressed;
    }
  }

  #writeHead(length: number, headers: AnswerHeaders): void {
    const { request, response, commonHeaders, trail } = this.#exchange;
    // The request body is still arriving and its rest will not be read, so the connection cannot carry another request.
    if (!request.complete) response.shouldKeepAlive = false;
    const head = this.clientHeaders([...commonHeaders], headers);
    if (length >= 0 && this.status !== 204 && this.status !== 304) head.push('Content-Length', String(length));
    trail.status = this.status;
    this.#hasHead = true;
    response.writeHead(this.status, head);
  }

  /** Appends the headers for the client to `sent`, and returns `sent`. */
  clientHeaders(sent: string[], given = this.headers): string[] {
    const headers = clientAnswerHeaders(given, this.#exchange, this.#route.authorities, this, sent);
    if (this.isSandboxed) headers.push(...SANDBOX_HEADER);
    return headers;
  }

  withhold(field: string): void {
    this.#withheld ??= [];
    if (this.#withheld.length === WITHHELD_MAX || this.#withheld.includes(field)) return;
    this.#withheld.push(field);
    this.#exchange.trail.note('withheld', this.#withheld);
  }

  /** Whether the client has already received another answer, for example a refusal because the request body took too long. */
  get isForestalled(): boolean {
    return !this.#hasHead && this.#exchange.response.headersSent;
  }

  /** Closes a body that has begun. If `isWhole` is false, the client sees that a part is missing. */
  close(isWhole: boolean): void {
    if (isWhole) this.#sink.end();
    // This waits, because Node sends the bytes that were written in this turn only at the end of the turn, and an immediate `destroy` would
    // lose them.
    else setImmediate(destroy, this);
  }

  destroy(): void {
    this.#exchange.response.destroy();
  }

  forgetDrain(): void {
    if (this.#onDrain !== undefined) this.#sink.off('drain', this.#onDrain);
  }
}

const writeWhole = (answer: ClientAnswer) => answer.writeWhole();
const destroy = (answer: ClientAnswer) => answer.destroy();
