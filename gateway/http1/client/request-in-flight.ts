// One request of the client, with the controls that its handler uses.

import type { AnswerHandler, Control, Outgoing } from './wire.ts';

/** The connection that carries the request. */
interface Carrier {
  pause(): void;
  resume(): void;
  detach(): void;
  end(): void;
}

/** A request in progress, and the handler of its answer. */
export class RequestInFlight implements Control {
  readonly request: Outgoing;
  readonly head: string;
  readonly handler: AnswerHandler;
  paused = false;
  waitedMs = 0;
  /** When the request found every connection in use, `performance.now()`; 0 if it did not. */
  waitsSinceMs = 0;
  /** Set while the request has a connection. */
  connection: Carrier | undefined;

  constructor(request: Outgoing, head: string, handler: AnswerHandler) {
    this.request = request;
    this.head = head;
    this.handler = handler;
  }

  pause(): void {
    this.paused = true;
    this.connection?.pause();
  }

  resume(): void {
    this.paused = false;
    this.connection?.resume();
  }

  detach(): void {
    this.connection?.detach();
  }

  abort(): void {
    this.connection?.end();
  }
}
