// Takes the answer to a request of the gateway's own that an attempt needs before it sends the client's. The read ends with the attempt, and
// nothing of the client's request counts as sent meanwhile. Throws upstream_bad_response.

import { headersIn } from '../http1/client/request-head.ts';
import type { AnswerHandler, AnswerHeaders, Control, Outgoing } from '../http1/client/wire.ts';
import type { CompleteAnswer } from './answers/judge.ts';
import { BUFFERED_BYTES_MAX } from './buffered-answer.ts';
import { upstreamFailure } from './failure.ts';
import type { Relay } from './relay.ts';

/** Fields that are about the body or the conditions of the client's own request. */
const ofTheClientsRequest = new Set([
  ...['accept', 'accept-encoding', 'content-type', 'content-length', 'idempotency-key', 'prefer', 'last-event-id'],
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range', 'range'],
]);

/** A GET of the same path in the name of the same client. */
export function readingRequest(outgoing: Outgoing, path: string): Outgoing {
  const headers = ['accept', 'application/json', 'accept-encoding', 'identity'];
  const given = headersIn(outgoing);
  for (let i = 0; i < given.length; i += 2) {
    const name = given[i] as string;
    if (!ofTheClientsRequest.has(name)) headers.push(name, given[i + 1] as string);
  }
  return { method: 'GET', path, headers, body: null };
}

export class ReadAnswer implements AnswerHandler {
  #status = 0;
  #headers: AnswerHeaders = {};
  #body: Buffer[] = [];
  #bytes = 0;
  readonly #relay: Relay;
  readonly #onAnswer: (answer: CompleteAnswer) => void;

  /** @param onAnswer called with the complete answer; what it throws fails the attempt */
  constructor(relay: Relay, onAnswer: (answer: CompleteAnswer) => void) {
    this.#relay = relay;
    this.#onAnswer = onAnswer;
  }

  get ended(): boolean {
    return this.#relay.ended;
  }

  onRequestStart(control: Control): void {
    this.#relay.readsFirst(control);
  }

  onResponseStart(_control: Control, status: number, headers: AnswerHeaders): void {
    if (this.#relay.ended) return;
    this.#status = status;
    this.#headers = headers;
    this.#relay.noteAnswer(status);
  }

  onResponseData(_control: Control, chunk: Buffer): void {
    if (this.#relay.ended) return;
    this.#relay.noteBytes();
    this.#bytes += chunk.length;
    if (this.#bytes > BUFFERED_BYTES_MAX) throw upstreamFailure('upstream_bad_response', 'http_response_body_size');
    this.#body.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#relay.ended) return;
    this.#relay.readsFirst(undefined);
    this.#onAnswer({ status: this.#status, headers: this.#headers, body: Buffer.concat(this.#body) });
  }

  onResponseError(control: Control | undefined, error: Error): void {
    this.#relay.onResponseError(control, error);
  }
}
