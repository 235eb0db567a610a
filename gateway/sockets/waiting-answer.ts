// Reads an answer that waits in a socket whose write has failed. If an upstream answers in the middle of an upload and closes, the next
// write fails, and Node would close the socket without reading the answer.

import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { handleOf } from './handle.ts';
import { NOTHING, type Unread } from './unread-bytes.ts';

const kept = new WeakSet<Socket>();
/** Maximum number of reads of one answer. The rest of a longer answer is not read. */
const READS_MAX = 64;

/**
 * Reads the waiting bytes of a socket before a failed write destroys it. A second call for the same socket has no effect.
 *
 * @param read receives the bytes of a plain socket; their buffer is reused afterwards. A TLS socket delivers its bytes in the usual way
 */
export function readBeforeFailing(
  socket: Socket,
  unread: Unread,
  read: (bytes: Uint8Array, length: number) => void,
): void {
  if (kept.has(socket)) return;
  kept.add(socket);
  const { destroy } = socket;
  socket.destroy = (error?: Error) => {
    socket.destroy = destroy;
    if ((error as NodeJS.ErrnoException | undefined)?.syscall === 'write') readAll(socket, unread, read);
    return destroy.call(socket, error);
  };
}

function readAll(socket: Socket, unread: Unread, read: (bytes: Uint8Array, length: number) => void): void {
  for (let reads = 0; reads < READS_MAX && !socket.destroyed; reads++) {
    const length = unread.take(socket);
    if (length === NOTHING || length === 0) return;
    if (socket instanceof TLSSocket) handleOf(socket)?.receive?.(unread.bytes.subarray(0, length));
    else read(unread.bytes, length);
  }
}
