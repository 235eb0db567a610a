// Begins the exchanges of requests into which the gateway turns the calls of an agent. They are logged, counted and traced like those of
// clients, but no connection carries them.

import type { DownstreamRequest } from '../downstream.ts';
import type { Arrived } from '../exchange.ts';
import { contain } from '../shared/faults.ts';
import { notesOn, Trail, trailOf } from '../trail.ts';
import type { EdgeResponse } from './edge-exchange.ts';

interface InternalExchangesOptions {
  requestId(): string;
  /** Makes the trace of one exchange part of another's. */
  traceWithin(inner: Trail, outer: Trail): void;
  /** Called once per exchange, after its answer is complete or given up. */
  onFinished(trail: Trail): void;
}

/** Begins an exchange on behalf of another one. It ends when its response closes. */
export type BeginInternal = (request: DownstreamRequest, response: EdgeResponse, outer: Arrived) => Arrived;

export function createInternalExchanges({
  requestId,
  traceWithin,
  onFinished,
}: InternalExchangesOptions): BeginInternal {
  return function begin(request, response, outer) {
    const id = requestId();
    const trail = new Trail(id, request.method as string);
    // This status remains if the answer is given up before it begins.
    trail.status = 499;
    traceWithin(trail, trailOf(outer.trail));
    response.once('close', () => contain(() => onFinished(trail)));
    const arrived = { id, request, response, clientAddress: undefined, commonHeaders: [] };
    return { ...arrived, trail: notesOn(trail), reservation: trail };
  };
}
