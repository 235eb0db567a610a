// Buffers an answer until it has been judged. It stands between the connection and the relay, which writes to the client. Throws
// upstream_bad_response.

import { toUpstreamFailure, upstreamFailure } from '../../catalogue/upstream-failure.ts';
import type { AnswerHandler, AnswerHeaders, Control } from '../../http1/client/wire.ts';
import type { CompleteAnswer } from '../answers/answer-rules.ts';
import { codingOf, decodeBody, isDecodable } from '../encoding/decode.ts';
import { CollectedBody } from './collected-body.ts';
import type { Relay } from './relay.ts';

/** Decides what the client gets. If a method throws, the attempt fails. */
export interface AnswerJudge {
  /** Whether the answer is buffered until it is complete. Otherwise the client gets it as it arrives. */
  readsWhole(status: number, headers: AnswerHeaders): boolean;
  /** Returns the complete answer as the client gets it, or undefined if the client gets nothing of it. */
  answerForClient(answer: CompleteAnswer): CompleteAnswer | undefined;
}

/** Largest body that is buffered and judged, before and after decoding. A longer body fails the attempt with upstream_bad_response. */
export const BUFFERED_BYTES_MAX = 8_388_608;

/** Collects the answer of one attempt and has it judged as a whole. Connection failures go to the relay at once. */
export class BufferedAnswer implements AnswerHandler {
  #status = 0;
  #headers: AnswerHeaders = {};
  readonly #body = new CollectedBody(BUFFERED_BYTES_MAX);
  /** True if the answer is streamed without buffering. */
  #passes = false;
  readonly #relay: Relay;
  readonly #judge: AnswerJudge;

  constructor(relay: Relay, judge: AnswerJudge) {
    this.#relay = relay;
    this.#judge = judge;
  }

  get isEnded(): boolean {
    return this.#relay.isEnded;
  }

  onRequestStart(control: Control): void {
    this.#relay.onRequestStart(control);
  }

  onResponseStart(control: Control, status: number, headers: AnswerHeaders): void {
    if (this.#relay.isEnded) return;
    this.#status = status;
    this.#headers = headers;
    this.#passes = !this.#judge.readsWhole(status, headers);
    if (this.#passes) this.#relay.onResponseStart(control, status, headers);
    else this.#relay.noteHead(status, headers, this.#body);
  }

  onResponseData(control: Control, chunk: Buffer): void {
    if (this.#passes) {
      this.#relay.onResponseData(control, chunk);
      return;
    }
    this.#relay.noteProgress();
    addBounded(this.#body, chunk);
  }

  onResponseEnd(): void {
    if (this.#passes) {
      this.#relay.onResponseEnd();
      return;
    }
    if (this.#relay.isEnded) return;
    const answer = this.#judge.answerForClient({
      status: this.#status,
      headers: this.#headers,
      body: this.#body.whole(),
    });
    if (answer !== undefined) this.#pass(answer);
  }

  onResponseError(control: Control | undefined, error: Error): void {
    this.#relay.onResponseError(control, error);
  }

  #pass({ status, headers, body }: CompleteAnswer): void {
    try {
      this.#relay.passWhole(status, { ...headers, 'content-length': String(body.length) }, body);
    } catch (error) {
      this.#relay.onResponseError(undefined, toUpstreamFailure(error));
    }
  }
}

/** Adds a chunk to a body of at most `BUFFERED_BYTES_MAX`. Throws upstream_bad_response if the body has become too long. */
export function addBounded(body: CollectedBody, chunk: Buffer): void {
  if (!body.add(chunk)) throw upstreamFailure('upstream_bad_response', 'http_response_body_size');
}

/**
 * Returns the answer without its content coding, so that rules can read it. The request allowed no coding
 * (upstream/headers/request-lines.ts), but an upstream may ignore that. Throws if the body of an answer below 400 cannot be decoded,
 * because a rule could not remove members that clients must not get. The body of an error is dropped instead, because the refusal can be
 * made from the status.
 */
export function decodedAnswer(answer: CompleteAnswer): CompleteAnswer {
  const coding = codingOf(answer.headers);
  if (coding === '' || answer.body.length === 0) return answer;
  const body = isDecodable(coding) ? decodeBody(answer.body, coding, BUFFERED_BYTES_MAX) : 'invalid';
  if (typeof body === 'string') {
    if (answer.status >= 400) return answer;
    const cause = new Error(`content coding ${coding}, which the rules of the upstream cannot read`);
    throw upstreamFailure('upstream_bad_response', 'http_response_content_coding', cause);
  }
  return { ...answer, headers: { ...answer.headers, 'content-encoding': undefined }, body };
}
