// Handles clients that end their side of the connection and wait for an answer. The gateway cannot see whether such a client still reads,
// because a client that has closed the whole connection looks the same until the gateway writes to it.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { DownstreamResponse } from '../../exchange/downstream.ts';
import { contain } from '../../shared/faults.ts';
import { destroyIfReset } from './socket-errors.ts';

/** The delay between the client's end and the probe. Most answers are sent sooner, so that few clients receive the probe. */
const PROBED_AFTER_MS = 500;
/** The first and the longest pause between two checks for a reset. Each pause is twice as long as the previous one. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 250;
/** Idle time after which TCP probes the client. */
const KEEP_ALIVE_MS = 10_000;

/** The next answer on a connection; absent if none is due. */
type AnswerOn = (socket: Socket) => Pick<DownstreamResponse, 'headersSent' | 'writeContinue'> | undefined;

/**
 * Returns the listener for the event `end` of a connection, which says that its client has ended its side.
 *
 * - If the answer has begun, the client is treated as gone.
 * - If the answer has not begun, the client may still wait for it. The gateway then finds out whether the client is gone:
 *   1. It sends one 100 Continue, which a client of HTTP/1.1 has to skip (RFC 9110 section 15.2).
 *   2. If the client has closed the connection, its system answers with a reset.
 *   3. The gateway no longer reads the socket, so it detects the reset by empty writes.
 */
export function createOnHalfClosed(answerOn: AnswerOn): (this: Socket) => void {
  function checkForReset(socket: Socket, pauseMs: number): void {
    ifStillDue(pauseMs, socket, () => {
      destroyIfReset(socket);
      checkForReset(socket, Math.min(2 * pauseMs, LONGEST_PAUSE_MS));
    });
  }

  /** Calls `work` after this time if an answer is still due then. */
  function ifStillDue(ms: number, socket: Socket, work: (due: NonNullable<ReturnType<AnswerOn>>) => void): void {
    const timer = setTimeout(() => {
      const due = answerOn(socket);
      if (due !== undefined && socket.writable) contain(() => work(due));
    }, ms);
    timer.unref();
  }

  return function onHalfClosed() {
    destroyIfReset(this);
    const answer = answerOn(this);
    if (answer === undefined) return;
    if (answer.headersSent) {
      this.end();
      return;
    }
    this.setKeepAlive(true, KEEP_ALIVE_MS);
    ifStillDue(PROBED_AFTER_MS, this, (due) => {
      if (!due.headersSent && mayProbe(due)) due.writeContinue();
      checkForReset(this, FIRST_PAUSE_MS);
    });
  };
}

/** HTTP/1.0 has no interim answers. */
function mayProbe(answer: object): boolean {
  const request = (answer as Partial<ServerResponse>).req;
  return request === undefined || request.httpVersionMinor > 0;
}

/** The answer of Node's server, from a private member of Node. */
export function answerOfNode(socket: Socket): ServerResponse | undefined {
  return (socket as Socket & { readonly _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}
