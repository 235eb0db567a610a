// Writes the answer of an upstream to its client: the head, the body with backpressure, and its compression. It is the base class of the
// relay, because a second object would cost each request an allocation.

import { GatewayError } from '../../errors.ts';
import type { Forwardable } from '../../exchange.ts';
import type { AnswerHeaders, Control } from '../../http1/client/wire.ts';
import { contain } from '../../shared/faults.ts';
import { atEndOfTurn } from '../../sockets/end-of-turn.ts';
import type { AttemptFailure } from '../attempts/retry-plan.ts';
import { type BodySink, CompressedBody } from '../encoding/compressed-body.ts';
import { clientAnswerHeaders, type WithheldNotes } from '../headers/answer-headers.ts';
import type { UpstreamRoute } from '../routes.ts';

/** Most withheld fields that are noted: the upstream chooses their names. */
const WITHHELD_MAX = 16;

export abstract class ClientAnswer implements WithheldNotes {
  /** Whether the outcome is known. Nothing may happen afterwards. */
  ended = false;
  protected readonly exchange: Forwardable;
  /** The control of the connection, once a connection has taken the request. */
  protected control: Control | undefined;
  protected status = 0;
  protected headers: AnswerHeaders = {};
  /** Headers that protect clients from an answer that its contract does not declare. */
  protected protection: readonly string[] | undefined;
  /** Length of the body; -1 if it is not declared. */
  protected length = -1;
  /** The first chunk, until the head is sent. Most answers are one chunk, which leaves with the head in one write. */
  protected first: Buffer | undefined;
  /** Whether this attempt wrote the head of the client's answer. */
  protected hasHead = false;
  readonly #route: Pick<UpstreamRoute, 'authorities' | 'compression'>;
  #withheld: string[] | undefined;
  #bytesOut = 0;
  /** Compresses the answer, unless it is short; undefined if the answer stays as it came. */
  #compressed: CompressedBody | undefined;
  /** Receives the body after the head is written. */
  #sink: BodySink;
  /** Created when the client first falls behind. */
  #onDrain: (() => void) | undefined;

  constructor(exchange: Forwardable, route: UpstreamRoute) {
    this.exchange = exchange;
    this.#route = route;
    this.#sink = exchange.response;
  }

  /** Whether the client gets no body, as after HEAD. */
  protected abstract get dropsBody(): boolean;
  /** Ends the attempt from this side. */
  abstract fail(error: GatewayError, failure: AttemptFailure): void;
  abstract onResponseError(control: Control | undefined, error: Error): void;
  /** Called when the client has left, or got another answer. */
  abstract clientGone(): void;
  /** Called when the client has caught up: everything that was written to it has left. */
  protected abstract drained(): void;

  /**
   * Decides whether the client gets the answer compressed. `headers` keep the upstream's values until the head is written, because the body
   * is checked by them.
   */
  protected chooseForm(): void {
    const form = this.#route.compression?.formOf(this.exchange, this.status, this.headers, this.length);
    if (form === undefined) return;
    this.headers = form.headers;
    if (form.compressed === undefined) return;
    if (this.dropsBody) {
      this.headers = form.compressed.headers;
      this.length = -1;
    } else
      this.#compressed = new CompressedBody(form.compressed, this.exchange, (error) => this.#compressorFailed(error));
  }

  /** Ends only this exchange, whose answer cannot be completed. */
  #compressorFailed(cause: Error): void {
    if (this.ended) this.exchange.response.destroy();
    else this.fail(new GatewayError('internal_error', { cause }), 'other');
  }

  protected countOut(chunk: Buffer): void {
    this.#bytesOut += chunk.length;
    this.exchange.trail.bytesOut = this.#bytesOut;
  }

  /** Sends a chunk, the first one together with the head. */
  protected pass(chunk: Buffer): void {
    if (this.hasHead) {
      this.write(chunk);
    } else if (this.first === undefined) {
      this.first = chunk;
      // Runs after everything that arrived in the same read: a whole small answer never gets here.
      if (chunk.length !== this.length) queueMicrotask(() => this.#releaseFirstSoon());
    } else {
      this.#releaseFirst();
      this.write(chunk);
    }
  }

  #releaseFirstSoon(): void {
    contain(
      () => this.#releaseFirst(),
      (thrown) => this.onResponseError(this.control, thrown as Error),
    );
  }

  #releaseFirst(): void {
    const first = this.first;
    if (this.ended || first === undefined || this.hasHead || this.leaveIfAnswered()) return;
    this.beginBody();
    this.write(first);
  }

  /** Writes to the client. Returns false if the client is behind; the upstream is then not read until it has caught up. */
  protected write(chunk: Buffer): boolean {
    if (this.#sink.write(chunk)) return true;
    this.control?.pause();
    this.#onDrain ??= () => {
      this.drained();
      this.control?.resume();
    };
    this.#sink.once('drain', this.#onDrain);
    return false;
  }

  /** Sends the rest: the end of the body, or the whole answer. */
  protected sendRest(): void {
    if (this.hasHead) this.closeBody();
    else
      atEndOfTurn(
        () => this.#writeWhole(),
        () => this.exchange.response.destroy(),
      );
  }

  protected closeBody(): void {
    this.#sink.end();
  }

  /** Writes head and body together, at the end of the turn: until then `Connection: close` can still be added to the head. */
  #writeWhole(): void {
    const { response } = this.exchange;
    if (response.headersSent) return;
    const first = this.first;
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
  protected beginBody(): void {
    if (this.#compressed === undefined) this.#writeHead(this.length, this.headers);
    else {
      this.#writeHead(-1, this.#compressed.headers);
      this.#sink = this.#compressed;
    }
  }

  #writeHead(length: number, headers: AnswerHeaders): void {
    const { request, response, commonHeaders, trail } = this.exchange;
    // The rest of a request body that is still arriving is not read, so this connection cannot carry another request.
    if (!request.complete) response.shouldKeepAlive = false;
    const head = this.answerHeaders(headers, [...commonHeaders]);
    if (length >= 0 && this.status !== 204 && this.status !== 304) head.push('Content-Length', String(length));
    trail.status = this.status;
    this.hasHead = true;
    response.writeHead(this.status, head);
  }

  /** Appends the headers of the answer to `sent`. */
  protected answerHeaders(given: AnswerHeaders, sent: string[]): string[] {
    const headers = clientAnswerHeaders(given, this.exchange, this.#route.authorities, this, sent);
    if (this.protection !== undefined) headers.push(...this.protection);
    return headers;
  }

  withhold(field: string): void {
    this.#withheld ??= [];
    if (this.#withheld.length === WITHHELD_MAX || this.#withheld.includes(field)) return;
    this.#withheld.push(field);
    this.exchange.trail.note('withheld', this.#withheld);
  }

  /**
   * Whether another part of the gateway has answered, for example because the request body took too long. This attempt has then ended
   * without an answer.
   */
  protected leaveIfAnswered(): boolean {
    if (this.hasHead || !this.exchange.response.headersSent) return false;
    this.clientGone();
    return true;
  }

  protected forgetDrain(): void {
    if (this.#onDrain !== undefined) this.#sink.off('drain', this.#onDrain);
  }
}
