// Two ways to end a connection: without taking away the answer just written to it, and so that nobody takes half of one for a whole.

import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** How much a client may still send after its last answer, and for how long, before the connection is cut. */
const LINGER_BYTES_MAX = 4_194_304;
const LINGER_MS = 1000;

/**
 * Says that nothing more will come, then reads away what the client still sends: closing while bytes arrive makes the kernel reset
 * the connection, and a client that had not read the answer yet never sees it (RFC 9112 section 9.6).
 */
export function endAfterLingering(socket: Socket): void {
  let read = 0;
  const cut = () => {
    clearTimeout(timer);
    socket.destroy();
  };
  const timer = setTimeout(cut, LINGER_MS);
  // The parser's listener among them: nothing on this connection is a request any more.
  socket.removeAllListeners('data');
  socket.on('data', (chunk: Buffer) => {
    read += chunk.length;
    if (read > LINGER_BYTES_MAX) cut();
  });
  socket.on('end', cut).on('close', cut);
  socket.end();
  socket.resume();
}

/** A reset, since an answer without a length would look whole if the connection just ended. */
export function cutOff(socket: Socket): void {
  // libuv refuses to reset what is shutting down already, and the socket would never be freed.
  // Over TLS an end that was not announced (close_notify) says the same.
  if (socket.writableEnded || socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
}
