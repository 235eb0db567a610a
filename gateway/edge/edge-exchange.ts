// The type of an exchange as the listener makes it, on the fast path or with Node's server.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DownstreamResponse } from '../exchange/downstream.ts';
import type { Arrived } from '../exchange/exchange.ts';

/** The members of an answer that the listener needs beside the members that stages use. */
export interface EdgeResponse extends DownstreamResponse {
  /** Whether the whole answer has been given to the kernel. */
  readonly writableFinished: boolean;
  once(event: 'close' | 'drain' | 'finish', listener: () => void): unknown;
}

export interface EdgeExchange extends Arrived {
  readonly response: EdgeResponse;
  /** `performance.now()` */
  readonly startedAt: number;
}

export interface NodeExchange extends EdgeExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Returns the same exchange, for libraries that need the classes of node:http. Call it only for requests that Node's server has read. The
 * fast path passes requests that need the classes to this server (`needsNode`).
 */
export function nodeExchangeOf(arrived: Arrived): NodeExchange {
  return arrived as NodeExchange;
}
