// The classes of node:http behind an exchange. Stages see interfaces of their own instead (exchange.ts).

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Arrived } from '../exchange.ts';

/** An exchange as the listener makes it. */
export interface NodeExchange extends Arrived {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** `performance.now()` */
  readonly startedAt: number;
}

/** The same exchange, for libraries that need the classes: each exchange is made by the listener. */
export function nodeExchangeOf(arrived: Arrived): NodeExchange {
  return arrived as NodeExchange;
}
