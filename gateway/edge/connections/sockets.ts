// Handles errors of a server and of its connections: Node ends the process for an 'error' event without a listener, and loses some errors
// of TLS.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { reportFault } from '../../shared/faults.ts';
import { handleOf } from '../../sockets/unread-bytes.ts';

/** Interval between reports of connections that cannot be accepted: thousands may fail per second. */
const REPORTED_EVERY_MS = 10_000;

/**
 * Gives every connection of a server an `error` listener for as long as the connection exists. Node has one of its own, but removes it
 * before it emits `connect` and `upgrade`. An error needs no further handling: the socket is destroyed, and its exchange ends with `close`.
 */
export function keepErrorListeners(server: Server): void {
  server.on('connection', listenForErrors);
  // Over TLS this is a different socket from that of `connection`.
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
 * Destroys a connection that its client has reset. The kernel reports a reset once, to the next read or write. If that is a write that TLS
 * makes by itself, as of session tickets after the handshake, Node loses the error (24.21): no later write ever completes, and the reset
 * is read as an end. An empty write to the TCP connection fails with EPIPE from then on; it sends nothing. Writes to the TLS socket do not
 * show it, not even empty ones.
 */
export function destroyIfReset(socket: Socket): void {
  // After its last write a connection shuts down, and completes that by itself.
  if (socket.writableEnded && socket.writableLength === 0) return;
  const tcp = tcpOf(socket);
  // While bytes wait in libuv, their own write learns of a reset, and TLS would mistake the completion of this write for its own.
  if (handleOf(tcp)?.writeQueueSize === 0) tcp.write('');
}

/** Node closes a TLS socket when the TCP socket beneath it, which its types leave out, is closed. */
function tcpOf(socket: Socket & { readonly _parent?: Socket | null }): Socket {
  return socket._parent ?? socket;
}

function listenForErrors(socket: Socket): void {
  socket.on('error', ignore);
}

function ignore(): void {}
