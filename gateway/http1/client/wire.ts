// Types of the HTTP/1.1 client that the rest of the gateway uses.

/** Header fields of an answer: lower-case names; a list for a repeated field. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** A request that is ready to be sent. */
export interface Outgoing {
  readonly method: string;
  /** With query. */
  readonly path: string;
  /** Field lines as they are sent, each with its end; their maker has checked them. Without framing fields. */
  readonly lines?: string;
  /** Further fields, flat, lower-case names. Without framing fields, except the `content-length` of a streamed body if it is known. */
  readonly headers: readonly string[];
  readonly body: Buffer | AsyncIterable<Buffer> | null;
}

/** Pauses or aborts an answer. Has no effect after the answer has ended. */
export interface Control {
  readonly paused: boolean;
  /** Delivers no further part of the answer until `resume`; the loss of the connection may still be reported. */
  pause(): void;
  resume(): void;
  /** The connection no longer counts among those that its pool may open, and is closed after this answer. */
  detach(): void;
  /** Closes the connection without calling the handler. */
  abort(): void;
}

/** Receives one answer. If one of its methods throws, the connection is closed and the error is passed to `onResponseError`. */
export interface AnswerHandler {
  /** The answer is no longer needed: a request that has not started is dropped. */
  readonly ended: boolean;
  /** The request has a connection and is written in the same turn, or as its body arrives. No byte was sent before this call. */
  onRequestStart(control: Control): void;
  /** Head of the final answer; interim answers are not reported. */
  onResponseStart(control: Control, status: number, headers: AnswerHeaders): void;
  onResponseData(control: Control, chunk: Buffer): void;
  onResponseEnd(control: Control): void;
  /**
   * Called instead of all remaining calls.
   *
   * @param control undefined if the request had no connection yet
   */
  onResponseError(control: Control | undefined, error: Error): void;
}

/** Connections to one origin. */
export interface Dispatcher {
  /** Throws WireFault if the request cannot be written; later errors go to the handler. */
  dispatch(request: Outgoing, handler: AnswerHandler): void;
}
