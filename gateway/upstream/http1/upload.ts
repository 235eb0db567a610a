// A body that streams, on its way to an upstream: no faster than that one reads.

import type { Socket } from 'node:net';
import { WireFault } from './fault.ts';
import type { Outgoing } from './wire.ts';

const LAST_CHUNK = '0\r\n\r\n';

/**
 * Resolves when all of it was given to the socket, or when nobody wants the rest. Rejects with what the body fails with, and when it is not
 * as long as its head says: the upstream would take what is too much for another request. The head leaves with the first bytes: a client
 * that announces a body and sends none keeps no upstream waiting.
 *
 * @param begin called right before the first byte is written; what it throws comes back
 * @param isWanted whether to go on, asked before each write
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

/** Undefined: it is not known. */
function lengthIn(headers: readonly string[]): number | undefined {
  for (let at = 0; at < headers.length; at += 2) if (headers[at] === 'content-length') return Number(headers[at + 1]);
  return undefined;
}

/** There is room again, or there never will be. */
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
