// Reads the current record from the upstream, because a request rule needs the record to make the body of the request. The read is a part
// of the attempt, so if the attempt ends, the read is aborted. If the read fails, the request of the client is treated as not sent. Throws
// upstream_bad_response.

import { headersIn } from '../../http1/client/request-head.ts';
import type { AnswerHandler, AnswerHeaders, Control, Outgoing } from '../../http1/client/wire.ts';
import type { CompleteAnswer } from '../answers/answer-rules.ts';
import { addBounded, BUFFERED_BYTES_MAX } from '../relay/buffered-answer.ts';
import { CollectedBody } from '../relay/collected-body.ts';
import type { Relay } from '../relay/relay.ts';

/**
 * Header fields that describe the body or the conditions of the client's request. The read is sent without these fields, because they would
 * be wrong there.
 */
const DROPPED_HEADERS = new Set([
  ...['accept', 'accept-encoding', 'content-type', 'content-length', 'idempotency-key', 'prefer', 'last-event-id'],
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range', 'range'],
]);

/** Returns the request for the record: a GET of the same path, for the same caller. */
export function recordRequest(outgoing: Outgoing, path: string): Outgoing {
  const headers = ['accept', 'application/json', 'accept-encoding', 'identity'];
  const given = headersIn(outgoing);
  for (let i = 0; i < given.length; i += 2) {
    const name = given[i] as string;
    if (!DROPPED_HEADERS.has(name)) headers.push(name, given[i + 1] as string);
  }
  return { method: 'GET', path, headers, body: null };
}

/** Collects the answer with the record. The client gets nothing of it. */
export class RecordReadAnswer implements AnswerHandler {
  #status = 0;
  #headers: AnswerHeaders = {};
  readonly #body = new CollectedBody(BUFFERED_BYTES_MAX);
  readonly #relay: Relay;
  readonly #useRecord: (answer: CompleteAnswer) => void;

  /** @param useRecord called with the complete answer; if it throws, the attempt fails */
  constructor(relay: Relay, useRecord: (answer: CompleteAnswer) => void) {
    this.#relay = relay;
    this.#useRecord = useRecord;
  }

  get isEnded(): boolean {
    return this.#relay.isEnded;
  }

  onRequestStart(control: Control): void {
    this.#relay.readsRecord(control);
  }

  onResponseStart(_control: Control, status: number, headers: AnswerHeaders): void {
    if (this.#relay.isEnded) return;
    this.#status = status;
    this.#headers = headers;
    this.#relay.noteHead(status, headers, this.#body);
  }

  onResponseData(_control: Control, chunk: Buffer): void {
    this.#relay.noteProgress();
    addBounded(this.#body, chunk);
  }

  onResponseEnd(): void {
    if (this.#relay.isEnded) return;
    this.#relay.readsRecord(undefined);
    this.#useRecord({ status: this.#status, headers: this.#headers, body: this.#body.whole() });
  }

  onResponseError(control: Control | undefined, error: Error): void {
    this.#relay.onResponseError(control, error);
  }
}
