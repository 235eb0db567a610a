// An answer that is held back until it has been judged, between the connection and the relay that writes to the client.

import type { Dispatcher } from 'undici';
import type { HeldAnswer } from './answers/rules.ts';
import { toUpstreamFailure, upstreamFailure } from './failure.ts';
import type { AnswerHeaders } from './headers.ts';
import type { Relay } from './relay.ts';

/** Whoever sends more than this is not understood any more. */
const HELD_BYTES_MAX = 8_388_608;

type Controller = Dispatcher.DispatchController;

/** One attempt: collects the answer and hands it over, whole. Failures of the connection go to the relay at once. */
export class Held implements Dispatcher.DispatchHandler {
  #controller: Controller | undefined;
  #status = 0;
  #headers: AnswerHeaders = {};
  #body: Buffer[] = [];
  #bytes = 0;
  /** The answer passes as it comes. */
  #passes = false;
  readonly #relay: Relay;
  readonly #isHeld: (status: number) => boolean;
  readonly #onAnswer: (answer: HeldAnswer, pass: (body: Buffer) => void) => void;

  /**
   * @param isHeld asked with the status: whether the answer is to be judged, or passes as it comes
   * @param onAnswer told the whole answer, with what lets it pass, in these words or others
   */
  constructor(
    relay: Relay,
    isHeld: (status: number) => boolean,
    onAnswer: (answer: HeldAnswer, pass: (body: Buffer) => void) => void,
  ) {
    this.#relay = relay;
    this.#isHeld = isHeld;
    this.#onAnswer = onAnswer;
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    this.#relay.onRequestStart(controller);
  }

  onResponseStart(controller: Controller, status: number, headers: AnswerHeaders): void {
    if (this.#relay.ended || status < 200) return;
    this.#status = status;
    this.#headers = headers;
    this.#passes = !this.#isHeld(status);
    if (this.#passes) this.#relay.onResponseStart(controller, status, headers);
    else this.#relay.noteAnswer(status);
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#passes) {
      this.#relay.onResponseData(controller, chunk);
      return;
    }
    this.#relay.noteBytes();
    this.#bytes += chunk.length;
    if (this.#bytes > HELD_BYTES_MAX) throw upstreamFailure('upstream_bad_response', 'http_response_body_size');
    this.#body.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#passes) {
      this.#relay.onResponseEnd();
      return;
    }
    if (this.#relay.ended) return;
    const answer = { status: this.#status, headers: this.#headers, body: Buffer.concat(this.#body) };
    this.#onAnswer(answer, (body) => this.#pass(body));
  }

  onResponseError(controller: Controller | undefined, error: Error): void {
    this.#relay.onResponseError(controller, error);
  }

  #pass(body: Buffer): void {
    const controller = this.#controller as Controller;
    try {
      const headers = { ...this.#headers, 'content-length': String(body.length) };
      this.#relay.onResponseStart(controller, this.#status, headers);
      if (body.length > 0) this.#relay.onResponseData(controller, body);
      this.#relay.onResponseEnd();
    } catch (error) {
      this.#relay.onResponseError(controller, toUpstreamFailure(error));
    }
  }
}
