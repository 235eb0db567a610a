// One request on its way over one connection: what its handler holds it by.

import type { Connection } from './connection.ts';
import type { AnswerHandler, Control, Outgoing } from './wire.ts';

/** A request on its way, and whoever takes its answer. */
export class ConnectAttempt implements Control {
  readonly request: Outgoing;
  readonly head: string;
  readonly handler: AnswerHandler;
  paused = false;
  /** While it has one. */
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

  abort(): void {
    this.connection?.end();
  }
}
