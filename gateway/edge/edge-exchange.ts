// An exchange as the listener makes it, whichever way its request was read.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DownstreamResponse } from '../downstream.ts';
import type { Arrived } from '../exchange.ts';

/** What the listener needs of an answer beside the members that stages use. */
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

/** The same exchange, for libraries that need the classes: the fast path hands their requests to Node's server (`needsNode`). */
export function nodeExchangeOf(arrived: Arrived): NodeExchange {
  return arrived as NodeExchange;
}
