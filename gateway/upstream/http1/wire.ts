// What goes over a connection to an upstream, in both directions, as the rest of the gateway knows it.

import type { AnswerHeaders } from '../headers.ts';

/** A request, ready to be sent. */
export interface Outgoing {
  readonly method: string;
  /** With query. */
  readonly path: string;
  /** Flat, lower-case names. Framing is not in it, but for the `content-length` of a body that streams, where it is known. */
  readonly headers: readonly string[];
  readonly body: Buffer | AsyncIterable<Buffer> | null;
}

/** How an answer is slowed down, or given up. Means nothing once the answer has ended. */
export interface Control {
  readonly paused: boolean;
  /** No further part of the answer before `resume`; that the connection is lost may still be told. */
  pause(): void;
  resume(): void;
  /** Closes the connection. Nobody is told. */
  abort(): void;
}

/** Whoever takes one answer. What its methods throw closes the connection and comes back by `onResponseError`. */
export interface AnswerHandler {
  /** Nobody waits for it any more: one that has not begun yet never does. */
  readonly ended: boolean;
  /** It has a connection, and is written to it in the same turn or as its body streams in; before this, no byte of it has left. */
  onRequestStart(control: Control): void;
  /** Of the final answer: interim ones are nobody's business. */
  onResponseStart(control: Control, status: number, headers: AnswerHeaders): void;
  onResponseData(control: Control, chunk: Buffer): void;
  onResponseEnd(control: Control): void;
  /** Instead of everything that is left. @param control undefined: it had no connection yet */
  onResponseError(control: Control | undefined, error: Error): void;
}

/** Connections to one origin. */
export interface Dispatcher {
  /** Throws WireFault if the request cannot be written; whatever happens later is the handler's. */
  dispatch(request: Outgoing, handler: AnswerHandler): void;
}
