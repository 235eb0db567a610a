// Errors of a server and of its connections: Node ends the process for an 'error' event without a listener.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { reportFault } from '../faults.ts';

/** How often connections that cannot be accepted are reported: there may be thousands of them per second. */
const REPORTED_EVERY_MS = 10_000;

/**
 * Gives every connection of a server an `error` listener for as long as the connection exists. Node has one of its own, but takes it off
 * before it emits `connect` and `upgrade`. An error needs no further handling: the socket is destroyed, and its exchange ends with `close`.
 */
export function keepErrorListeners(server: Server): void {
  server.on('connection', listenForErrors);
  // Over TLS this is another socket than that of `connection`.
  server.on('secureConnection', listenForErrors);
}

/** Reports errors of a server that listens, as when there are no file descriptors for another connection. It goes on listening. */
export function reportAcceptErrors(server: Server): void {
  let reportedAt = Number.NEGATIVE_INFINITY;
  server.on('error', (error) => {
    if (performance.now() - reportedAt < REPORTED_EVERY_MS) return;
    reportedAt = performance.now();
    reportFault(error);
  });
}

function listenForErrors(socket: Socket): void {
  socket.on('error', ignore);
}

function ignore(): void {}
