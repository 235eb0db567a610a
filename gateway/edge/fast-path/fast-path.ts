// The fast path: reads usual requests on the socket and answers them there. It gives every other connection to Node's HTTP server, with the
// bytes that it has read (decision 31).

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { checkEvery } from '../../shared/deadline.ts';
import { createDenseSet, type DenseSetEntry } from '../../shared/dense-set.ts';
import { contain } from '../../shared/faults.ts';
import { FastConnection, type FastOwner } from './connection.ts';
import type { FastResponse } from './response.ts';

interface FastPathOptions extends Pick<FastOwner, 'needsNode' | 'onRequest' | 'keepAliveMs'> {
  readonly server: Server;
  readonly isTls: boolean;
  readonly headerBytesMax: number;
  readonly urlBytesMax: number;
  readonly headersMs: number;
  /** Milliseconds between two checks of all connections for timeouts. */
  readonly everyMs: number;
  /** Called when nothing more can be read from a connection, or its head takes too long: the `clientError` of Node's server. */
  onClientError(error: NodeJS.ErrnoException, socket: Socket): void;
}

interface FastPath {
  /** Returns the answer that is due on a connection of the fast path. */
  answerOn(socket: Socket): FastResponse | undefined;
  /** Call it when Node's server has read a request on this connection. */
  arrivedAtNode(socket: Socket): void;
  /** Closes idle connections, now and from now on. A connection is idle if no byte has arrived since its last answer. */
  closeIdle(): void;
  /** Stops the periodic check for timeouts. */
  stop(): void;
}

/** An idle connection stays open this much longer than announced, as with Node, so that a request on its way is not lost. */
const IDLE_MS_MORE = 1000;

/** Name of the listener by which Node's server takes a connection, plain or secure. A pinned test checks that it exists. */
const NODE_LISTENER = 'connectionListener';

/**
 * Replaces the connection listener of Node's server. Returns undefined if that listener has another name in this version of Node: its
 * server then reads every request.
 */
export function createFastPath(options: FastPathOptions): FastPath | undefined {
  const { server, isTls, headersMs, keepAliveMs } = options;
  const event = isTls ? 'secureConnection' : 'connection';
  const listeners = server.listeners(event) as ((this: Server, socket: Socket) => void)[];
  const serveByNode = listeners.find(({ name }) => name === NODE_LISTENER);
  if (serveByNode === undefined) return undefined;
  const connections = createDenseSet<FastConnection>();
  const bySocket = new WeakMap<Socket, DenseSetEntry<FastConnection>>();
  /** Connections that were handed over in the middle of a head, with the time since when that head is awaited. */
  const slowHeads = new Map<Socket, number>();
  let isClosing = false;
  const owner: FastOwner = {
    keepAliveMs,
    // This is less than the bound of Node's server, which counts the request line, too.
    headBytesMax: options.headerBytesMax + options.urlBytesMax,
    fieldBytesMax: options.headerBytesMax,
    needsNode: options.needsNode,
    onRequest: options.onRequest,
    handOver,
    isClosing: () => isClosing,
    onBroken: options.onClientError,
  };

  function take(socket: Socket): void {
    // A connection above a limit, or one that was reset, is already destroyed.
    if (socket.destroyed) return;
    const connection = new FastConnection(socket, owner, performance.now());
    if (!connection.begin()) {
      connection.detach();
      serveByNode?.call(server, socket);
      return;
    }
    const entry = connections.add(connection);
    bySocket.set(socket, entry);
    socket.once('close', () => {
      connections.remove(entry);
      slowHeads.delete(socket);
    });
  }

  function handOver(connection: FastConnection, bytes: Buffer, isPartOfHead: boolean): void {
    const { socket } = connection;
    const entry = bySocket.get(socket);
    if (entry !== undefined) connections.remove(entry);
    bySocket.delete(socket);
    if (isPartOfHead) slowHeads.set(socket, connection.since);
    connection.detach();
    const before = socket.listeners('end');
    serveByNode?.call(server, socket);
    if (socket.readableEnded) {
      // The stream has ended, so `unshift` would fail. Pass the rest and the end to the listeners of Node's server directly.
      socket.emit('data', bytes);
      for (const listener of socket.listeners('end')) if (!before.includes(listener)) listener.call(socket);
      return;
    }
    // Resume before the bytes are returned: they may be a request for an upgrade, after which the socket must not flow by itself.
    socket.resume();
    socket.unshift(bytes);
  }

  function check(): void {
    const now = performance.now();
    for (const connection of connections.all()) {
      if (connection.isIdle) {
        if (connection.since === 0) connection.since = now;
        else if (keepAliveMs > 0 && now - connection.since >= keepAliveMs + IDLE_MS_MORE) connection.socket.destroy();
      } else if (connection.isAwaitingHead && now - connection.since >= headersMs) {
        // The head is reported only once: the connection stays open for a while after the 408.
        connection.since = Number.POSITIVE_INFINITY;
        expire(connection.socket);
      }
    }
    for (const [socket, since] of slowHeads) {
      if (now - since < headersMs) continue;
      slowHeads.delete(socket);
      expire(socket);
    }
  }

  /** Reports a head that takes too long, with the error of Node's server. */
  function expire(socket: Socket): void {
    const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    contain(
      () => options.onClientError(error, socket),
      () => socket.destroy(),
    );
  }

  server.off(event, serveByNode);
  server.on(event, take);

  return {
    answerOn: (socket) => bySocket.get(socket)?.item.response,
    arrivedAtNode(socket) {
      if (slowHeads.size > 0) slowHeads.delete(socket);
    },
    closeIdle() {
      isClosing = true;
      for (const connection of connections.all()) if (connection.isIdle) connection.socket.destroy();
    },
    stop: checkEvery(options.everyMs, check),
  };
}
