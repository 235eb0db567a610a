// How the other side of TLS has ended its half: by saying so, or by no more than the end of the connection beneath, which anybody on
// the way can bring about (RFC 8446 section 6.1). Node tells both in the same way.

import { constants } from 'node:os';
import type { TLSSocket } from 'node:tls';
import { handleOf } from './unread.ts';

/**
 * Tells once, at the end and before the socket itself does, whether a close_notify came before it. To be called before the end.
 *
 * Node reads the alert while it still reads the connection beneath; libuv has stopped reading that one by the time at which it tells of its
 * end. Whether it reads is asked by having it begin: EALREADY. Without these members of Node's own, every end counts as cut off.
 */
export function onTlsEnd(socket: TLSSocket, told: (isSaid: boolean) => void): void {
  const push = socket.push;
  socket.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    if (chunk === null) {
      socket.push = push;
      told(isStillReading(socket));
    }
    return push.call(socket, chunk, encoding);
  };
}

function isStillReading(socket: TLSSocket): boolean {
  const handle = handleOf(socket);
  // Nothing is read from the connection beneath: what ended was inside of what had been read.
  if (handle?.reading === false) return true;
  return handle?._parent?.readStart?.() === -constants.errno.EALREADY;
}
