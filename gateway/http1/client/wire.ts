// The types of the HTTP/1.1 client that the rest of the gateway uses, and its errors.

/** Header fields of an answer: lower-case names; a list for a repeated field. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** A request that is ready to be sent. */
export interface Outgoing {
  readonly method: string;
  /** The path, with query. */
  readonly path: string;
  /** Field lines as they are sent, each with its line end, without framing fields. The code that made them has checked them. */
  readonly fieldLines?: string;
  /** Other fields, in lower-case names, without framing fields. The `content-length` of a streamed body may be among them. */
  readonly headers: readonly string[];
  readonly body: Buffer | AsyncIterable<Buffer> | null;
}

/** Pauses or aborts an answer. Has no effect after the answer has ended. */
export interface Control {
  readonly paused: boolean;
  /** How long the request waited because every connection was in use. */
  readonly waitedMs: number;
  /** Delivers no part of the answer until `resume`. The loss of the connection may still be reported. */
  pause(): void;
  resume(): void;
  /** Removes the connection from the number that its pool may open. It is closed after this answer. */
  detach(): void;
  /** Closes the connection without calling the handler. */
  abort(): void;
}

/** Receives one answer. If one of its methods throws, the connection is closed and the error is passed to `onResponseError`. */
export interface AnswerHandler {
  /** Whether the answer is no longer needed. A request that still waits for a connection is then dropped. */
  readonly isEnded: boolean;
  /**
   * Called when the request has a connection. No byte was sent before this call; the request is written in the same turn, or as its body
   * arrives.
   */
  onRequestStart(control: Control): void;
  /** Called with the head of the final answer. Interim answers are not reported. */
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

type FaultCode =
  /** The connection was not established in time. */
  | 'WIRE_CONNECT_TIMEOUT'
  /** The upstream ended the connection before the answer was complete. */
  | 'WIRE_INCOMPLETE'
  | 'WIRE_HEAD_TOO_LARGE'
  /** The answer violates RFC 9112, or could be parsed in two ways. */
  | 'WIRE_MALFORMED'
  /** The request cannot be written as a single valid request. */
  | 'WIRE_UNSENDABLE';

export class WireFault extends Error {
  readonly code: FaultCode;

  constructor(code: FaultCode, message: string) {
    super(message);
    this.name = 'WireFault';
    this.code = code;
  }
}

/** @param part of the request, without its value */
export function unsendable(part: string): WireFault {
  return new WireFault('WIRE_UNSENDABLE', `${part} is not valid`);
}
