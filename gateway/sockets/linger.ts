// Two ways to end a connection. `endAfterLingering` lets the client receive the answer that was just written. `cutOff` shows the client
// that the answer is not complete.

import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { startDeadline } from '../shared/deadline.ts';
import { giveBackReads } from './shared-reads.ts';

/** Maximum number of bytes that a client may still send after its last answer. If it sends more, the connection is cut. */
const LINGER_BYTES_MAX = 4_194_304;
/** Milliseconds for which a client may still send after its last answer. Then the connection is cut. */
const LINGER_MS = 1000;

/**
 * Ends the gateway's side of the connection, then reads and discards what the client still sends. If the gateway closed the connection at
 * once, the next bytes of the client would make the kernel reset the connection. The client could then lose an answer that it has not read
 * yet (RFC 9112 section 9.6).
 */
export function endAfterLingering(socket: Socket): void {
  let read = 0;
  const cut = () => {
    deadline.stop();
    socket.destroy();
  };
  const deadline = startDeadline(LINGER_MS, cut);
  // This also removes the listener of the HTTP parser, so no more requests are read from this connection.
  socket.removeAllListeners('data');
  giveBackReads(socket);
  socket.on('data', (chunk: Buffer) => {
    read += chunk.length;
    if (read > LINGER_BYTES_MAX) cut();
  });
  socket.on('end', cut).on('close', cut);
  socket.end();
  socket.resume();
}

/** Resets the connection, because an answer without a length would look complete after a normal end. */
export function cutOff(socket: Socket): void {
  // libuv does not reset a connection that is already shutting down, and its socket would never be freed. Such a socket is therefore
  // destroyed. A TLS socket is destroyed too, because an end without close_notify also tells the client that the answer is not complete.
  if (socket.writableEnded || socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}
