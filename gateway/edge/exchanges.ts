// The exchanges of one listener that are in progress: each begins with a request, and ends when its answer has left or its client has. A
// look at intervals ends those whose bodies take too long to arrive, or whose clients do not read.

import type { Socket } from 'node:net';
import type { DownstreamRequest } from '../downstream.ts';
import { createDenseSet } from '../shared/dense-set.ts';
import { reportFault } from '../shared/faults.ts';
import { notesOn, Trail } from '../trail.ts';
import { createBodyTimeout } from './connections/body-timeout.ts';
import { cutOff } from './connections/linger.ts';
import { watchSlowReaders } from './connections/slow-readers.ts';
import type { EdgeExchange, EdgeResponse } from './edge-exchange.ts';
import type { Refuse } from './refusal/refuse.ts';

export interface ExchangesOptions {
  readonly requestMs: number;
  readonly writeIdleMs: number;
  /** Headers of every answer, flat names and values. */
  readonly constantHeaders: readonly string[];
  readonly refuse: Pick<Refuse, 'refuse'>;
  requestId(): string;
  /** Called once per exchange, after its answer has left or its client has. */
  onFinished(trail: Trail): void;
}

interface Exchanges {
  /** Begins an exchange, which ends when `until` closes. */
  begin(request: DownstreamRequest, response: EdgeResponse, until: EdgeResponse | Socket): EdgeExchange;
  inProgress(): EdgeExchange[];
  size(): number;
  /** The caller watches the time of this request's body from now on. */
  letStream(request: DownstreamRequest): void;
  /** From now on every answer tells its client that the connection ends. */
  announceEnd(): void;
  /** Stops the looks. */
  stop(): void;
}

/**
 * @param everyMs interval of the looks
 * @param onEnded called after each exchange
 */
export function createExchanges(options: ExchangesOptions, everyMs: number, onEnded: () => void): Exchanges {
  const inProgress = createDenseSet<EdgeExchange>();
  let isEnding = false;
  const bodies = createBodyTimeout({
    requestMs: options.requestMs,
    everyMs,
    active: inProgress.all,
    refuse: options.refuse.refuse,
  });
  const stopWatchingReaders = watchSlowReaders({
    idleMs: options.writeIdleMs,
    everyMs: Math.min(everyMs, options.writeIdleMs / 2),
    active: inProgress.all,
    cut: cutOff,
  });

  return {
    begin(request, response, until) {
      const id = options.requestId();
      const startedAt = performance.now();
      const trail = new Trail(id, request.method as string, startedAt);
      const exchange: EdgeExchange = {
        id,
        request,
        response,
        startedAt,
        trail: notesOn(trail),
        reservation: trail,
        clientAddress: undefined,
        carried: [...options.constantHeaders, 'X-Request-Id', id],
      };
      // The final status if the client leaves before an answer begins.
      trail.status = 499;
      const entry = inProgress.add(exchange);
      if (isEnding) response.shouldKeepAlive = false;
      until.once('close', () => {
        inProgress.remove(entry);
        try {
          bodies.answered(exchange);
          options.onFinished(trail);
        } catch (thrown) {
          reportFault(thrown);
        }
        onEnded();
      });
      return exchange;
    },
    inProgress: inProgress.all,
    size: inProgress.size,
    letStream: bodies.letStream,
    announceEnd() {
      isEnding = true;
      // Answers under way announce the end of their connection (RFC 9112 section 9.6); Node does not add the header by itself.
      for (const { response } of inProgress.all()) response.shouldKeepAlive = false;
    },
    stop() {
      bodies.stop();
      stopWatchingReaders();
    },
  };
}
