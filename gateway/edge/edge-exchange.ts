// An exchange as the listener makes it, whichever way its request was read.

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
