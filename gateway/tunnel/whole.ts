// Whether an answer of an upstream is one, and all of it: over TLS, an answer that ends with the connection is whole only if the upstream has
// said that it ends (RFC 9112 section 9.8).

import type { ClientRequest, IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { onTlsEnd } from '../tls-end.ts';

/** To be called with the head of the answer. Destroys the answer with an error when it is cut off without a close_notify. */
export function failIfCut(incoming: IncomingMessage): void {
  const { socket, headers } = incoming;
  const hasEnd = headers['content-length'] !== undefined || /\bchunked$/i.test(headers['transfer-encoding'] ?? '');
  if (hasEnd || !(socket instanceof TLSSocket)) return;
  onTlsEnd(socket, (isSaid) => {
    if (!isSaid && !incoming.complete)
      incoming.destroy(new Error('the answer was cut off: no close_notify came before the end'));
  });
}

/** To be called with a request that has a connection and was not sent yet; tells later whether a part of it was. */
export function watchSent(outgoing: ClientRequest): () => boolean {
  const socket = outgoing.socket;
  const before = socket?.bytesWritten ?? 0;
  return () => (socket?.bytesWritten ?? 0) > before;
}
