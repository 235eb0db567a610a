// The fast path: reads usual requests on the socket and answers them there. It gives every other connection to Node's HTTP server, with the
// bytes that it has read (decision 31).

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { HeadBounds } from '../../http1/usual-head.ts';
import { checkEvery } from '../../shared/deadline.ts';
import { createDenseSet, type DenseSetEntry } from '../../shared/dense-set.ts';
import { contain } from '../../shared/faults.ts';
import { FastConnection } from './connection.ts';
import type { FastRequest } from './request.ts';
import type { FastResponse } from './response.ts';

/** The part of the server that handles what the fast path has read. edge/server.ts */
interface RequestServer {
  needsNode(request: FastRequest): boolean;
  serveRequest(request: FastRequest, response: FastResponse): void;
}

interface FastPathOptions {
  readonly server: Server;
  readonly requestServer: RequestServer;
  readonly keepAliveMs: number;
  /**
   * Refuses the bytes of a connection that are not HTTP, end too early or arrive too slowly. The same function handles `clientError` of
   * Node's server. edge/refusal/unreadable.ts
   */
  onClientError(error: NodeJS.ErrnoException, socket: Socket): void;
  readonly isTls: boolean;
  readonly headerBytesMax: number;
  readonly urlBytesMax: number;
  readonly headersMs: number;
  /** Milliseconds between two checks of all connections for timeouts. */
  readonly everyMs: number;
}

/** Added to the announced time of an idle connection, because a request may be on its way when that time is over. Node does the same. */
const IDLE_MS_MORE = 1000;

/** The name of the listener by which Node's server takes a connection, plain or secure. A pinned test checks that this listener exists. */
const NODE_LISTENER = 'connectionListener';

/**
 * Replaces the connection listener of Node's server. Returns undefined if that listener has another name in this version of Node, whose
 * server then reads every request.
 */
export function createFastPath(options: FastPathOptions): FastPath | undefined {
  const { server, isTls } = options;
  const event = isTls ? 'secureConnection' : 'connection';
  const listeners = server.listeners(event) as ((this: Server, socket: Socket) => void)[];
  const serveByNode = listeners.find(({ name }) => name === NODE_LISTENER);
  if (serveByNode === undefined) return undefined;
  const fastPath = new FastPath(options, (socket) => serveByNode.call(server, socket));
  server.off(event, serveByNode);
  server.on(event, (socket: Socket) => fastPath.take(socket));
  return fastPath;
}

export class FastPath implements HeadBounds {
  readonly keepAliveMs: number;
  readonly headBytesMax: number;
  readonly fieldBytesMax: number;
  readonly requestServer: RequestServer;
  readonly onClientError: FastPathOptions['onClientError'];
  /** Whether the listener is closing. A connection that becomes idle is then ended. */
  isClosing = false;
  readonly #headersMs: number;
  readonly #serveByNode: (socket: Socket) => void;
  readonly #connections = createDenseSet<FastConnection>();
  readonly #bySocket = new WeakMap<Socket, DenseSetEntry<FastConnection>>();
  /** Connections that were handed over in the middle of a head, with the time at which the wait for that head began. */
  readonly #slowHeads = new Map<Socket, number>();
  readonly #stopChecks: () => void;

  constructor(options: FastPathOptions, serveByNode: (socket: Socket) => void) {
    this.keepAliveMs = options.keepAliveMs;
    // The bound of Node's server is higher, so a head that is too long for the fast path may still be served.
    this.headBytesMax = options.headerBytesMax + options.urlBytesMax;
    this.fieldBytesMax = options.headerBytesMax;
    this.requestServer = options.requestServer;
    this.onClientError = options.onClientError;
    this.#headersMs = options.headersMs;
    this.#serveByNode = serveByNode;
    this.#stopChecks = checkEvery(options.everyMs, () => this.#check());
  }

  /** Takes a new connection. */
  take(socket: Socket): void {
    // A connection that is above a limit or was reset is already destroyed.
    if (socket.destroyed) return;
    const connection = new FastConnection(socket, this, performance.now());
    if (!connection.begin()) {
      connection.detach();
      this.#serveByNode(socket);
      return;
    }
    const entry = this.#connections.add(connection);
    this.#bySocket.set(socket, entry);
    socket.once('close', () => {
      this.#connections.remove(entry);
      this.#slowHeads.delete(socket);
    });
  }

  /**
   * Gives the connection to Node's server, with the bytes that were read and not used.
   *
   * @param isPartOfHead the bytes begin a head, whose rest has been awaited since `connection.headSince`
   */
  handOver(connection: FastConnection, bytes: Buffer, isPartOfHead: boolean): void {
    const { socket } = connection;
    const entry = this.#bySocket.get(socket);
    if (entry !== undefined) this.#connections.remove(entry);
    this.#bySocket.delete(socket);
    if (isPartOfHead && connection.headSince !== undefined) this.#slowHeads.set(socket, connection.headSince);
    connection.detach();
    const before = socket.listeners('end');
    this.#serveByNode(socket);
    if (socket.readableEnded) {
      // `unshift` would fail, because the stream has ended. The listeners of Node's server therefore get the remaining bytes and the end
      // directly.
      socket.emit('data', bytes);
      for (const listener of socket.listeners('end')) if (!before.includes(listener)) listener.call(socket);
      return;
    }
    // `resume` comes before `unshift`. If the bytes are a request for an upgrade, Node's server stops the flow, and `resume` must not start
    // it again.
    socket.resume();
    socket.unshift(bytes);
  }

  /** Returns the answer that is due on a connection of the fast path. */
  answerOn(socket: Socket): FastResponse | undefined {
    return this.#bySocket.get(socket)?.item.response;
  }

  /** Call it when Node's server has read a request on this connection. */
  arrivedAtNode(socket: Socket): void {
    if (this.#slowHeads.size > 0) this.#slowHeads.delete(socket);
  }

  /** Closes idle connections, now and from now on. A connection is idle if no byte has arrived since its last answer. */
  closeIdle(): void {
    this.isClosing = true;
    for (const connection of this.#connections.all()) if (connection.isIdle) connection.socket.destroy();
  }

  /** Stops the periodic check for timeouts. */
  stop(): void {
    this.#stopChecks();
  }

  #check(): void {
    const now = performance.now();
    for (const connection of this.#connections.all()) {
      if (connection.isIdle) this.#checkIdle(connection, now);
      else if (connection.headSince !== undefined && now - connection.headSince >= this.#headersMs) {
        // Without this line, each check would report the same slow head again, because the connection stays open for a while after the 408.
        connection.headSince = undefined;
        this.#expire(connection.socket);
      }
    }
    for (const [socket, since] of this.#slowHeads) {
      if (now - since < this.#headersMs) continue;
      this.#slowHeads.delete(socket);
      this.#expire(socket);
    }
  }

  #checkIdle(connection: FastConnection, now: number): void {
    const idleMax = this.keepAliveMs + IDLE_MS_MORE;
    connection.idleSince ??= now;
    if (this.keepAliveMs > 0 && now - connection.idleSince >= idleMax) connection.socket.destroy();
  }

  /** Reports a head that takes too long, with the error of Node's server. */
  #expire(socket: Socket): void {
    const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    contain(
      () => this.onClientError(error, socket),
      () => socket.destroy(),
    );
  }
}
