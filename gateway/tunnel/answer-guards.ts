// Guards the answers of tunnels. Finds answers that stall, that are cut off, or that came before their request.

import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import { startDeadline } from '../shared/deadline.ts';
import { onTlsEnd } from '../sockets/tls-end.ts';

/**
 * Watches an answer from its head to its last byte, because an upstream that stalls occupies the connections on both sides. The deadline
 * does not run while the client reads slowly.
 *
 * @param idleMs longest time without a byte of the body
 * @param onStall called at most once
 * @returns a function that stops the watch
 */
export function watchForStall(
  incoming: IncomingMessage,
  response: ServerResponse,
  idleMs: number,
  onStall: () => void,
): () => void {
  const deadline = startDeadline(idleMs, expire);
  const progress = () => deadline.restart();

  function expire(): void {
    if (response.writableNeedDrain) deadline.restart();
    else {
      stop();
      onStall();
    }
  }

  function stop(): void {
    deadline.stop();
    response.off('drain', progress);
  }

  incoming.on('data', progress);
  response.on('drain', progress);
  incoming.once('end', stop);
  incoming.once('close', stop);
  return stop;
}

/**
 * Destroys the answer with an error if the connection ends without a close_notify. Over TLS, an answer that the end of the connection
 * delimits is complete only after a close_notify (RFC 9112 section 9.8). Call it with the head of the answer.
 */
export function failIfCut(incoming: IncomingMessage): void {
  const { socket, headers } = incoming;
  const hasEnd = headers['content-length'] !== undefined || /\bchunked$/i.test(headers['transfer-encoding'] ?? '');
  if (hasEnd || !(socket instanceof TLSSocket)) return;
  onTlsEnd(socket, (isAnnounced) => {
    if (!isAnnounced && !incoming.complete)
      incoming.destroy(new Error('the answer was cut off: no close_notify came before the end'));
  });
}

/**
 * Returns a function that says whether bytes of the request have been written. Call it with a request that has a connection and has not
 * been sent.
 */
export function watchSent(outgoing: ClientRequest): () => boolean {
  const socket = outgoing.socket;
  const before = socket?.bytesWritten ?? 0;
  return () => (socket?.bytesWritten ?? 0) > before;
}
