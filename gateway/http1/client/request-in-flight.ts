// One request of the HTTP/1.1 client, with the controls that the handler of its answer uses.

import type { Connection } from './connection.ts';
import type { AnswerHandler, Control, Outgoing } from './wire.ts';

/** A request in progress, and the handler of its answer. */
export class RequestInFlight implements Control {
  readonly request: Outgoing;
  readonly head: string;
  readonly handler: AnswerHandler;
  paused = false;
  waitedMs = 0;
  /** `performance.now()` when the request began to wait because every connection was in use; 0 if it did not wait. */
  waitsSinceMs = 0;
  /** Set while the request has a connection. */
  connection: Connection | undefined;

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
    this.connection?.pool.detach(this.connection);
  }

  abort(): void {
    this.connection?.end();
  }
}
