// Handles errors of a server and of its connections, because Node ends the process for an 'error' event without a listener, and loses some
// errors of TLS.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { reportFault } from '../../shared/faults.ts';
import { handleOf } from '../../sockets/handle.ts';

/** Milliseconds between two reports of connections that cannot be accepted. Thousands may fail per second. */
const REPORTED_EVERY_MS = 10_000;

/**
 * Gives every connection of a server an `error` listener for as long as the connection exists. Node has its own listener, but removes it
 * before it emits `connect` and `upgrade`. An error needs no other handling, because the socket is destroyed, and its exchange ends with
 * `close`.
 */
export function keepErrorListeners(server: Server): void {
  server.on('connection', listenForErrors);
  // Over TLS, `connection` gives a different socket.
  server.on('secureConnection', listenForErrors);
}

/** Reports errors of a listening server, such as a lack of file descriptors for another connection. The server continues to listen. */
export function reportAcceptErrors(server: Server): void {
  let reportedAt = Number.NEGATIVE_INFINITY;
  server.on('error', (error) => {
    if (performance.now() - reportedAt < REPORTED_EVERY_MS) return;
    reportedAt = performance.now();
    reportFault(error);
  });
}

/**
 * Destroys a connection that its client has reset. The kernel reports a reset once, to the next read or write. With TLS, this may be
 * a write of session tickets, whose error Node 24.21 loses. Then no later write completes, and the reset looks like an end.
 *
 * This function therefore writes an empty text to the TCP socket. After a reset the write fails with EPIPE; otherwise it sends no byte. An
 * empty write to the TLS socket would not fail.
 */
export function destroyIfReset(socket: Socket): void {
  // After the last write the connection closes by itself, so nothing has to be detected.
  if (socket.writableEnded && socket.writableLength === 0) return;
  const tcp = tcpOf(socket);
  // A pending write will report the reset. An empty write beside it would do harm, because TLS would take the end of the empty write for
  // the end of the pending one.
  if (handleOf(tcp)?.writeQueueSize === 0) tcp.write('');
}

/** The TCP socket beneath a TLS socket, which the types of Node leave out. Node closes the TLS socket with it. */
function tcpOf(socket: Socket & { readonly _parent?: Socket | null }): Socket {
  return socket._parent ?? socket;
}

function listenForErrors(socket: Socket): void {
  socket.on('error', ignore);
}

function ignore(): void {}
