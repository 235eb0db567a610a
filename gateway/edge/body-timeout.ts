// How long a request's body may take. In place of Node's requestTimeout, which knows no exceptions: what somebody passes on while it
// comes may take longer, and is watched there.

import { GatewayError } from '../errors.ts';
import type { Arrived, DownstreamRequest } from '../exchange.ts';
import { contain } from '../faults.ts';

export interface BodyTimeout {
  /** From now on somebody else watches this one. */
  letStream(request: DownstreamRequest): void;
  /** An exchange is over. Its body may still be on its way: nobody waits for that, but it takes up a connection. */
  answered(arrived: Arrived): void;
  stop(): void;
}

export interface BodyTimeoutOptions {
  /** From the head of a request to its last byte. */
  readonly requestMs: number;
  /** How often is looked, in milliseconds. */
  readonly everyMs: number;
  /** Exchanges that are not over. */
  active(): Iterable<Arrived>;
  /** Writes a refusal; may be called several times for one exchange. */
  refuse(arrived: Arrived, error: GatewayError): void;
}

/** Begins to look: at everything now and then, so that a request in itself costs nothing. */
export function createBodyTimeout({ requestMs, everyMs, active, refuse }: BodyTimeoutOptions): BodyTimeout {
  const streaming = new WeakSet<DownstreamRequest>();
  const answered = new Set<Arrived>();
  const timer = setInterval(() => contain(look), everyMs).unref();

  function look(): void {
    const latest = performance.now() - requestMs;
    const isOverdue = ({ request, trail }: Arrived) => !request.complete && trail.startedAt <= latest;
    for (const arrived of active()) {
      if (isOverdue(arrived) && !streaming.has(arrived.request)) refuse(arrived, new GatewayError('request_timeout'));
    }
    for (const arrived of answered) {
      if (isOverdue(arrived)) arrived.request.socket.destroy();
      if (arrived.request.complete || arrived.request.socket.destroyed) answered.delete(arrived);
    }
  }

  return {
    letStream: (request) => void streaming.add(request),
    answered(arrived) {
      if (!arrived.request.complete && !arrived.request.socket.destroyed) answered.add(arrived);
    },
    stop: () => clearInterval(timer),
  };
}
