// Writes requests to an upstream. A whole request is written at once, a streamed body no faster than the upstream reads.

import type { Socket } from 'node:net';
import { type Outgoing, WireFault } from './wire.ts';

/** A request with a body up to this size is sent in a single write. */
const JOINED_BYTES_MAX = 65_536;
const LAST_CHUNK = '0\r\n\r\n';

export function writeAtOnce(socket: Socket, head: string, body: Buffer | null): void {
  if (body === null) socket.write(head, 'latin1');
  else if (body.length <= JOINED_BYTES_MAX) socket.write(joinBytes(head, body));
  else {
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(body);
    socket.uncork();
  }
}

function joinBytes(head: string, body: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, 0, 'latin1');
  bytes.set(body, head.length);
  return bytes;
}

/**
 * Sends a streamed request. The head is sent together with the first bytes of the body. If the client announces a body and sends none, the
 * upstream therefore gets nothing and is not occupied. Resolves when the whole body was given to the socket, or when `isWanted` returns
 * false. Rejects with the error of the body. Rejects if the body does not have the announced length, because the upstream would take
 * surplus bytes for another request.
 *
 * @param begin called right before the first byte is written; its errors reject
 * @param isWanted whether to continue, called before each write
 */
export async function upload(
  socket: Socket,
  head: string,
  { body, headers }: Outgoing,
  begin: () => void,
  isWanted: () => boolean,
): Promise<void> {
  const length = lengthIn(headers);
  const isChunked = length === undefined;
  let left = length ?? Number.POSITIVE_INFINITY;
  let toSend = head;
  let hasBegun = false;
  const beginOnce = () => {
    if (!hasBegun) begin();
    hasBegun = true;
  };
  for await (const chunk of body as AsyncIterable<Buffer>) {
    if (!isWanted()) return;
    if (chunk.length === 0) continue;
    left -= chunk.length;
    if (left < 0) throw new WireFault('WIRE_UNSENDABLE', 'the body is longer than its head says');
    beginOnce();
    socket.cork();
    if (isChunked) toSend += `${chunk.length.toString(16)}\r\n`;
    if (toSend !== '') socket.write(toSend, 'latin1');
    const hasRoom = socket.write(chunk);
    socket.uncork();
    toSend = isChunked ? '\r\n' : '';
    if (!hasRoom) await drained(socket);
  }
  if (isChunked) toSend += LAST_CHUNK;
  else if (left > 0 && isWanted()) throw new WireFault('WIRE_UNSENDABLE', 'the body is shorter than its head says');
  if (toSend === '' || !isWanted()) return;
  beginOnce();
  socket.write(toSend, 'latin1');
}

/** Returns the announced length; undefined if unknown. */
function lengthIn(headers: readonly string[]): number | undefined {
  for (let at = 0; at < headers.length; at += 2) if (headers[at] === 'content-length') return Number(headers[at + 1]);
  return undefined;
}

/** Resolves when the socket accepts data again, or has closed. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    if (socket.destroyed) resolve();
    else socket.once('drain', done).once('close', done);
  });
}
