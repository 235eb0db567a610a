// Tells an orderly end of TLS (close_notify) from a cut connection, which any attacker on the path can cause (RFC 8446 section 6.1). Node
// reports both in the same way.

import { constants } from 'node:os';
import type { TLSSocket } from 'node:tls';
import { handleOf } from './unread-bytes.ts';

/**
 * Calls `onEnd` once, at the end of the connection and before the socket's own event, with whether a close_notify came first. Subscribe
 * before the end.
 *
 * After a close_notify, libuv is still reading the connection beneath; after a cut, it has stopped. `readStart` returns EALREADY while
 * libuv reads: that tells the two apart. If Node lacks these internals, every end counts as a cut.
 */
export function onTlsEnd(socket: TLSSocket, onEnd: (hasCloseNotify: boolean) => void): void {
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
  // Node has paused reading of the connection beneath, so the end was in the data that was read before.
  if (handle?.reading === false) return true;
  return handle?._parent?.readStart?.() === -constants.errno.EALREADY;
}
