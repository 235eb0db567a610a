// Clients that end their side of the connection and wait for an answer. The gateway cannot see whether such a client still reads: one that
// has closed the whole connection looks the same until the gateway writes to it.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { DownstreamResponse } from '../../downstream.ts';
import { contain } from '../../shared/faults.ts';
import { destroyIfReset } from './sockets.ts';

/**
 * Delay after the client's end before the gateway probes the client; the reset is then looked for at intervals. Most answers are sent
 * sooner, so that few clients receive the probe.
 */
const PROBED_AFTER_MS = 500;
const FIRST_LOOK_MS = 20;
const LONGEST_PAUSE_MS = 250;
/** Idle time after which TCP probes the client. */
const KEEP_ALIVE_MS = 10_000;

/** The next answer on a connection; absent if none is due. */
type AnswerOn = (socket: Socket) => Pick<DownstreamResponse, 'headersSent' | 'writeContinue'> | undefined;

/**
 * Returns the listener for the event `end` of a connection: its client has ended its side. Before the answer has begun, the client may
 * still wait for it: a client of HTTP/1.1 is sent 100 Continue, which it has to skip (RFC 9110 section 15.2), and which causes a reset if
 * the client has closed the connection. Empty writes detect that reset, because the socket is no longer read. An end during an answer
 * counts as the client leaving.
 */
export function createOnHalfClosed(answerOn: AnswerOn): (this: Socket) => void {
  function lookAgain(socket: Socket, pauseMs: number): void {
    lookAfter(pauseMs, socket, () => {
      destroyIfReset(socket);
      lookAgain(socket, Math.min(2 * pauseMs, LONGEST_PAUSE_MS));
    });
  }

  /** Calls back if an answer is still due after this time. */
  function lookAfter(ms: number, socket: Socket, look: (due: NonNullable<ReturnType<AnswerOn>>) => void): void {
    const timer = setTimeout(() => {
      const due = answerOn(socket);
      if (due !== undefined && socket.writable) contain(() => look(due));
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
    lookAfter(PROBED_AFTER_MS, this, (due) => {
      if (!due.headersSent && mayProbe(due)) due.writeContinue();
      lookAgain(this, FIRST_LOOK_MS);
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
