// Tells an orderly end of TLS (close_notify) from a cut connection, which any attacker on the path can cause (RFC 8446 section 6.1). Node
// reports both in the same way.

import { constants } from 'node:os';
import type { TLSSocket } from 'node:tls';
import { handleOf } from './handle.ts';

/**
 * Calls `onEnd` once when the connection ends, before the socket emits its own event. The argument is true if a close_notify came first.
 * Call it before the connection ends.
 *
 * After a close_notify, libuv still reads from the TCP connection; after a cut, it does not. While libuv reads, `readStart` returns
 * EALREADY. If this version of Node lacks these internals, every end is treated as a cut.
 */
export function onTlsEnd(socket: TLSSocket, onEnd: (isAnnounced: boolean) => void): void {
  const push = socket.push;
  socket.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    if (chunk === null) {
      socket.push = push;
      onEnd(isStillReading(socket));
    }
    return push.call(socket, chunk, encoding);
  };
}

function isStillReading(socket: TLSSocket): boolean {
  const handle = handleOf(socket);
  // Node has paused the reads of the TCP connection, so the end was a close_notify in data that was already read.
  if (handle?.reading === false) return true;
  return handle?._parent?.readStart?.() === -constants.errno.EALREADY;
}
