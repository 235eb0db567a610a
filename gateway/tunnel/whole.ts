// Detects truncated and premature answers. Over TLS, an answer delimited by the end of the connection is complete only after a close_notify
// (RFC 9112 section 9.8).

import type { ClientRequest, IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { onTlsEnd } from '../sockets/tls-end.ts';

/** Call with the head of the answer. Destroys the answer with an error if the connection ends without a close_notify. */
export function failIfCut(incoming: IncomingMessage): void {
  const { socket, headers } = incoming;
  const hasEnd = headers['content-length'] !== undefined || /\bchunked$/i.test(headers['transfer-encoding'] ?? '');
  if (hasEnd || !(socket instanceof TLSSocket)) return;
  onTlsEnd(socket, (isSaid) => {
    if (!isSaid && !incoming.complete)
      incoming.destroy(new Error('the answer was cut off: no close_notify came before the end'));
  });
}

/** Call with a request that has a connection and has not been sent. The returned function says whether bytes have been written since. */
export function watchSent(outgoing: ClientRequest): () => boolean {
  const socket = outgoing.socket;
  const before = socket?.bytesWritten ?? 0;
  return () => (socket?.bytesWritten ?? 0) > before;
}
