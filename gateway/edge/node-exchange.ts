// The classes of node:http behind an exchange. Stages see interfaces of their own instead (exchange.ts).

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Arrived } from '../exchange.ts';
import type { EdgeExchange } from './edge-exchange.ts';

export interface NodeExchange extends EdgeExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** The same exchange, for libraries that need the classes: the fast path hands their requests to Node's server (`needsNode`). */
export function nodeExchangeOf(arrived: Arrived): NodeExchange {
  return arrived as NodeExchange;
}
