// Begins the exchanges of one listener. An exchange ends when its answer has been sent or its client has disconnected. A periodic check
// ends exchanges whose body arrives too slowly, or whose client does not read.

import type { Socket } from 'node:net';
import type { DownstreamRequest } from '../exchange/downstream.ts';
import { Trail } from '../exchange/trail.ts';
import { createDenseSet } from '../shared/dense-set.ts';
import { reportFault } from '../shared/faults.ts';
import { cutOff } from '../sockets/linger.ts';
import { createBodyTimeout } from './connections/body-timeout.ts';
import { watchSlowReaders } from './connections/slow-readers.ts';
import type { EdgeExchange, EdgeResponse } from './edge-exchange.ts';
import type { Refusals } from './refusal/refusals.ts';

export interface ExchangesOptions {
  readonly requestMs: number;
  readonly writeIdleMs: number;
  /** Headers of every answer, flat names and values. */
  readonly constantHeaders: readonly string[];
  readonly refusals: Pick<Refusals, 'refuse'>;
  /** Makes the id of a request. ids.ts */
  requestId(): string;
  /**
   * Writes the log line, the trace and the counts of an exchange. Called once, after its answer has been sent or its client has
   * disconnected. `createRecordExchange` of wiring/sections/traffic.ts
   */
  recordExchange(trail: Trail): void;
}

export class Exchanges {
  readonly #options: ExchangesOptions;
  readonly #onEnded: () => void;
  readonly #inProgress = createDenseSet<EdgeExchange>();
  readonly #bodies: ReturnType<typeof createBodyTimeout>;
  readonly #stopWatchingReaders: () => void;
  #isEnding = false;

  /**
   * Starts the periodic checks.
   *
   * @param everyMs milliseconds between two checks
   * @param onEnded called after each exchange, so that a server that is closing can close the idle connections
   */
  constructor(options: ExchangesOptions, everyMs: number, onEnded: () => void) {
    const { requestMs, writeIdleMs: idleMs, refusals } = options;
    const inProgress = this.#inProgress.all;
    this.#options = options;
    this.#onEnded = onEnded;
    this.#bodies = createBodyTimeout({ requestMs, everyMs, inProgress, refuse: refusals.refuse });
    const readersEveryMs = Math.min(everyMs, idleMs / 2);
    this.#stopWatchingReaders = watchSlowReaders({ idleMs, everyMs: readersEveryMs, inProgress, cut: cutOff });
  }

  /** Begins an exchange, which ends when `until` closes. */
  begin(request: DownstreamRequest, response: EdgeResponse, until: EdgeResponse | Socket): EdgeExchange {
    const options = this.#options;
    const id = options.requestId();
    const startedAt = performance.now();
    const trail = new Trail(id, request.method as string, startedAt);
    const exchange: EdgeExchange = {
      id,
      request,
      response,
      startedAt,
      // One object has both roles, which saves each request an object.
      trail,
      state: trail,
      clientAddress: undefined,
      commonHeaders: [...options.constantHeaders, 'X-Request-Id', id],
    };
    // This status remains if the client leaves before an answer begins.
    trail.status = 499;
    const entry = this.#inProgress.add(exchange);
    if (this.#isEnding) response.shouldKeepAlive = false;
    until.once('close', () => {
      this.#inProgress.remove(entry);
      try {
        this.#bodies.noteAnswer(exchange);
        options.recordExchange(trail);
      } catch (thrown) {
        reportFault(thrown);
      }
      this.#onEnded();
    });
    return exchange;
  }

  inProgress(): EdgeExchange[] {
    return this.#inProgress.all();
  }

  size(): number {
    return this.#inProgress.size();
  }

  /** From now on, every answer announces the end of its connection. */
  announceEnd(): void {
    this.#isEnding = true;
    // Answers in progress announce the end of their connection, too (RFC 9112 section 9.6). Node does not do that by itself when its server
    // closes.
    for (const { response } of this.inProgress()) response.shouldKeepAlive = false;
  }

  /** Stops the periodic checks. */
  stop(): void {
    this.#bodies.stop();
    this.#stopWatchingReaders();
  }
}
