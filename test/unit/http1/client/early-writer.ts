// A thread that is the other side of connections: it answers each request with its path, and writes an unrequested answer on every idle
// connection on command, while the commanding thread stands still.

import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createSecureServer, type TlsOptions } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';

export interface Shared {
  readonly tls: TlsOptions | undefined;
  /** 1 once it has written everywhere. */
  readonly written: Int32Array;
  /** How many requests came over a connection after it had been written to unasked. */
  readonly later: Int32Array;
  readonly forged: string;
}

const { tls, written, later, forged } = workerData as Shared;
const open = new Set<Socket>();
const spoiled = new WeakSet<Socket>();
const server =
  tls === undefined ? createServer({ noDelay: true }, accept) : createSecureServer({ ...tls, noDelay: true }, accept);

function accept(socket: Socket): void {
  open.add(socket);
  socket.on('error', () => undefined);
  socket.on('close', () => open.delete(socket));
  socket.on('data', (chunk) => {
    if (spoiled.has(socket)) Atomics.add(later, 0, 1);
    const path = /^\w+ (\S+) /.exec(chunk.toString('latin1'))?.[1] ?? '';
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${path.length}\r\n\r\n${path}`);
  });
}

parentPort?.on('message', () => {
  let left = open.size;
  const isWritten = () => {
    left -= 1;
    if (left > 0) return;
    Atomics.store(written, 0, 1);
    Atomics.notify(written, 0);
  };
  if (left === 0) isWritten();
  for (const socket of open) {
    spoiled.add(socket);
    socket.write(forged, isWritten);
  }
});
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port));
