// The client's request and the answer to it, as interfaces that contain only the members that stages use. Types only.

import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The members of the client's request that stages use. Node's IncomingMessage has all these members, so it is passed unchanged; only
 * `edge/` and `tunnel/` know the class.
 */
export interface DownstreamRequest {
  readonly method?: string | undefined;
  /** The request target, as it stands in the request line. */
  readonly url?: string | undefined;
  readonly httpVersionMajor: number;
  readonly httpVersionMinor: number;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  /** The fields by name in lower case. Only the fast path makes this map, if no field has two lines. `admit` may change the map. */
  readonly fields?: Map<string, string> | undefined;
  /** Lower-case name → value, as the parser joins repeats. From `admit` on, stages use the map of `Admitted`. */
  readonly headers: IncomingHttpHeaders;
  /** Whether the whole body has arrived. */
  readonly complete: boolean;
  /** Whether reading the body has begun. A byte that was read cannot be read again. */
  readonly readableDidRead: boolean;
  /** Whether no more of the request can arrive. */
  readonly destroyed: boolean;
  /** The client's connection, which other requests may share. */
  readonly socket: Socket;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeAllListeners(event: 'data'): unknown;
  /** Stops the events `data` until a reader asks for more. */
  pause(): unknown;
  /** Returns the chunks of the body. With `destroyOnReturn: false`, a reader that stops early leaves the connection open. */
  iterator(options: { readonly destroyOnReturn: boolean }): AsyncIterable<unknown>;
}

/** The members of the answer to the client that stages use. Node's ServerResponse has all these members; see DownstreamRequest. */
export interface DownstreamResponse {
  readonly statusCode: number;
  readonly headersSent: boolean;
  /** Whether `end` has been called. */
  readonly writableEnded: boolean;
  /** Whether the client reads more slowly than the answer is written. */
  readonly writableNeedDrain: boolean;
  /** Whether nothing more can be sent, because the client has left or the answer was given up. */
  readonly destroyed: boolean;
  /** Whether the connection stays open after this answer; settled once the head is written. */
  shouldKeepAlive: boolean;
  /** Sends the interim answer 100 Continue, after which the client sends its body (RFC 9110 section 15.2.1). */
  writeContinue(): void;
  /** @param headers flat names and values */
  writeHead(status: number, headers?: string[]): unknown;
  /** Sends the head before the body begins. */
  flushHeaders(): void;
  /** Returns false if the client is behind; `drain` follows. */
  write(chunk: Buffer, onWritten?: () => void): boolean;
  end(chunk?: Buffer): unknown;
  destroy(): unknown;
  /** Adds a listener. `close` is emitted when the answer is complete, or when the client has left. */
  once(event: 'close' | 'drain', listener: () => void): unknown;
  off(event: 'close' | 'drain', listener: () => void): unknown;
  /** Adds a listener that runs before all earlier listeners, such as the one that ends and records the exchange. */
  prependListener(event: 'close', listener: () => void): unknown;
}
