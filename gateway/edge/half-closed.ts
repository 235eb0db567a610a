// Clients that end their side of the connection and wait for an answer. Whether they still read cannot be seen: a client that has closed
// the whole connection looks the same until something is written to it.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { contain } from '../faults.ts';
import { destroyIfReset } from './sockets.ts';

/**
 * When a client is asked whether it is there, after it has ended its side, and when it is looked whether a reset has come, after that. Most
 * answers come sooner, so that few clients see the question.
 */
const ASKED_AFTER_MS = 500;
const FIRST_LOOK_MS = 20;
const LONGEST_PAUSE_MS = 250;
/** Idle time after which TCP asks whether the client is still there. */
const KEEP_ALIVE_MS = 10_000;

/**
 * Called when the client has ended its side. Before the answer has begun, the client may wait for it: one of HTTP/1.1 is sent 100
 * Continue, which it has to skip (RFC 9110 section 15.2), and if the connection is closed on its side, a reset comes back. Empty writes
 * find that reset, because nothing is read any more. An end in the middle of an answer is taken for the client's leave.
 */
export function onHalfClosed(this: Socket): void {
  destroyIfReset(this);
  const response = answerOn(this);
  if (response == null) return;
  if (response.headersSent) {
    this.end();
    return;
  }
  this.setKeepAlive(true, KEEP_ALIVE_MS);
  lookAfter(ASKED_AFTER_MS, this, ask);
}

function ask(socket: Socket, response: ServerResponse): void {
  if (!response.headersSent && response.req.httpVersionMinor > 0) response.writeContinue();
  lookAgain(socket, FIRST_LOOK_MS);
}

function lookAgain(socket: Socket, pauseMs: number): void {
  lookAfter(pauseMs, socket, () => {
    destroyIfReset(socket);
    lookAgain(socket, Math.min(2 * pauseMs, LONGEST_PAUSE_MS));
  });
}

/** Calls back while an answer is waited for. */
function lookAfter(ms: number, socket: Socket, look: (socket: Socket, response: ServerResponse) => void): void {
  const timer = setTimeout(() => {
    const response = answerOn(socket);
    if (response != null && socket.writable) contain(() => look(socket, response));
  }, ms);
  timer.unref();
}

/** The answer that is next on a connection, which Node keeps there; absent where none is due. */
function answerOn(socket: Socket): ServerResponse | null | undefined {
  return (socket as Socket & { readonly _httpMessage?: ServerResponse | null })._httpMessage;
}
