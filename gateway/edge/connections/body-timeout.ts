// Limits how long a request's body may take. It replaces Node's requestTimeout, which allows no exceptions. A body that is forwarded as a
// stream may take longer, and has its own deadline.

import { GatewayError } from '../../catalogue/errors.ts';
import type { Arrived } from '../../exchange/exchange.ts';
import { checkEvery } from '../../shared/deadline.ts';
import type { EdgeExchange } from '../edge-exchange.ts';

interface BodyTimeout {
  /**
   * Call it at the end of an exchange. The gateway no longer needs the body, but a body that is still arriving occupies the connection, so
   * its timeout continues.
   */
  noteAnswer(exchange: EdgeExchange): void;
  stop(): void;
}

interface BodyTimeoutOptions {
  /** Milliseconds from the head of a request to its last byte. */
  readonly requestMs: number;
  /** Interval of the checks, milliseconds. */
  readonly everyMs: number;
  /** Returns the exchanges in progress. */
  inProgress(): Iterable<EdgeExchange>;
  /** Writes a refusal; may be called several times for one exchange. */
  refuse(arrived: Arrived, error: GatewayError): void;
}

/** Starts the checks. One timer checks all requests, because a timer for each request would cost more. */
export function createBodyTimeout({ requestMs, everyMs, inProgress, refuse }: BodyTimeoutOptions): BodyTimeout {
  const answered = new Set<EdgeExchange>();

  function check(): void {
    const latest = performance.now() - requestMs;
    const isOverdue = ({ request, startedAt }: EdgeExchange) => !request.complete && startedAt <= latest;
    for (const arrived of inProgress()) {
      if (isOverdue(arrived) && !arrived.state.hasOwnBodyTimeout) refuse(arrived, new GatewayError('request_timeout'));
    }
    for (const arrived of answered) {
      if (isOverdue(arrived)) arrived.request.socket.destroy();
      if (arrived.request.complete || arrived.request.socket.destroyed) answered.delete(arrived);
    }
  }

  return {
    noteAnswer(exchange) {
      const { request } = exchange;
      if (!request.complete && !request.socket.destroyed) answered.add(exchange);
    },
    stop: checkEvery(everyMs, check),
  };
}
