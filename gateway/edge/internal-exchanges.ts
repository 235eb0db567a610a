// Begins exchanges that no client has sent. A call of an agent's tool is such an exchange, within the exchange of the agent's message.

import type { DownstreamRequest } from '../exchange/downstream.ts';
import type { Arrived } from '../exchange/exchange.ts';
import { Trail, trailOf } from '../exchange/trail.ts';
import { contain } from '../shared/faults.ts';
import type { EdgeResponse } from './edge-exchange.ts';

interface InternalExchangesOptions {
  /** Makes the id of a request. ids.ts */
  requestId(): string;
  /** Makes the trace of one exchange part of the trace of another. observe/tracing/tracing.ts */
  traceWithin(inner: Trail, outer: Trail): void;
  /** Records the exchange, as for the exchanges of clients. Called once, after the answer is complete or given up. */
  recordExchange(trail: Trail): void;
}

/** Begins the exchange of a request that the gateway makes from the call of an agent. The exchange ends when its response closes. */
export type BeginInternal = (request: DownstreamRequest, response: EdgeResponse, outer: Arrived) => Arrived;

/** Returns the function that begins exchanges without a connection. They are logged, counted and traced like the exchanges of clients. */
export function createInternalExchanges({
  requestId,
  traceWithin,
  recordExchange,
}: InternalExchangesOptions): BeginInternal {
  return function begin(request, response, outer) {
    const id = requestId();
    const trail = new Trail(id, request.method as string);
    // This status remains if the answer is given up before it begins.
    trail.status = 499;
    traceWithin(trail, trailOf(outer.trail));
    response.once('close', () => contain(() => recordExchange(trail)));
    const arrived = { id, request, response, clientAddress: undefined, commonHeaders: [] };
    return { ...arrived, trail, state: trail };
  };
}
