// A public listener: the fast path reads usual requests, Node's server all others. Limits and timeouts for both, and JSON answers for what
// Node would answer with an empty body or not at all.

import {
  createServer,
  type ServerOptions as HttpOptions,
  type IncomingMessage,
  type Server,
  ServerResponse,
} from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import { Server as Listener, type Socket } from 'node:net';
import type { DownstreamRequest } from '../downstream.ts';
import type { Arrived } from '../exchange.ts';
import { createDenseSet } from '../shared/dense-set.ts';
import { contain, reportFault } from '../shared/faults.ts';
import { notesOn, Trail } from '../trail.ts';
import { createBodyTimeout } from './body-timeout.ts';
import { sendContinueInOrder } from './continue-100.ts';
import type { EdgeExchange, EdgeResponse } from './edge-exchange.ts';
import { createFastPath } from './fast-path/fast-path.ts';
import { answerOfNode, createOnHalfClosed } from './half-closed.ts';
import { cutOff } from './linger.ts';
import type { Refuse } from './refuse.ts';
import { watchSlowReaders } from './slow-readers.ts';
import { createUnreadable } from './unreadable.ts';

export interface ServerOptions {
  readonly headerBytesMax: number;
  readonly urlBytesMax: number;
  readonly headersMs: number;
  readonly requestMs: number;
  readonly writeIdleMs: number;
  readonly keepAliveMs: number;
  /** Headers of every answer, flat names and values. */
  readonly constantHeaders: readonly string[];
  readonly refuse: Refuse;
  /** Makes the server, if it is to speak TLS. */
  readonly createTlsServer?: ((options: HttpOptions) => HttpsServer) | undefined;
  /** Whether a usual request needs the classes of node:http. Absent: every request is read by Node's server. */
  readonly needsNode?: ((request: DownstreamRequest) => boolean) | undefined;
  /** Told of every new connection; may end it. */
  takeConnection?(socket: Socket): void;
  requestId(): string;
  /** Everything that arrives as a request; resolves when it has been answered. */
  handle(arrived: Arrived): Promise<void>;
  /** Whether a request that asks for a WebSocket can get one; otherwise it is handled as if it had not asked. */
  upgrades(request: DownstreamRequest): boolean;
  /** Handles a request for an upgrade that it may get. The response works as usual until the socket is detached from it. */
  upgrade(arrived: Arrived, socket: Socket, head: Buffer): Promise<void>;
  /** Told once per exchange, after its answer has left or its client has. */
  onFinished(trail: Trail): void;
}

export interface PublicServer {
  readonly server: Server;
  activeRequests(): number;
  /** The caller watches the time of this request's body from now on. */
  letStream(request: DownstreamRequest): void;
  /** Takes no more connections; those that are open go on as they are. */
  stopListening(): void;
  /** From now on every answer tells its client that the connection ends; everything is still served. */
  announceEnd(): void;
  /** Stops taking connections, lets requests in flight finish for at most `drainMs`, then closes what is left. */
  drain(drainMs: number): Promise<void>;
}

export function createPublicServer(options: ServerOptions): PublicServer {
  const active = createDenseSet<EdgeExchange>();
  const connections = createDenseSet<Socket>();
  const checkingMs = Math.min(1000, options.headersMs, options.requestMs);
  let ending = false;
  let closing = false;
  const server: Server | HttpsServer = (options.createTlsServer ?? createServer)({
    // The request line counts too: `admit` refuses a target that is too long, with 414.
    maxHeaderSize: options.headerBytesMax + options.urlBytesMax + 1024,
    // `admit` checks Host, and refuses with a JSON error.
    requireHostHeader: false,
    headersTimeout: options.headersMs,
    requestTimeout: 0,
    keepAliveTimeout: options.keepAliveMs,
    connectionsCheckingInterval: checkingMs,
    noDelay: true,
    // A request without Content-Length and Transfer-Encoding has no body (RFC 9112 section 6.3): its stream is at its end from the start,
    // and emits no events. Bodies are read only where a header announces one.
    optimizeEmptyRequests: true,
    shouldUpgradeCallback: (request) => isWebSocket(request) && !isPipelined(request) && upgrades(request),
  });
  const bodies = createBodyTimeout({
    requestMs: options.requestMs,
    everyMs: checkingMs,
    active: active.all,
    refuse: options.refuse.refuse,
  });
  const stopWatchingReaders = watchSlowReaders({
    idleMs: options.writeIdleMs,
    everyMs: Math.min(checkingMs, options.writeIdleMs / 2),
    active: active.all,
    cut: cutOff,
  });
  // A client that ends its side after a whole request gets its answer. Absent from the types of Node.
  Object.assign(server, { httpAllowHalfOpen: true });
  const unreadable = createUnreadable({ ...options, active: active.all });
  const fastPath =
    options.needsNode &&
    createFastPath({
      ...options,
      server,
      isTls: options.createTlsServer !== undefined,
      everyMs: checkingMs,
      needsNode: options.needsNode,
      onRequest: (request, response) => handle(arrive(request, response, response)),
      onClientError: unreadable.onClientError,
    });
  const onHalfClosed = createOnHalfClosed((socket) => fastPath?.answerOn(socket) ?? answerOfNode(socket));

  /** Called by the parser, so it must not throw. */
  function upgrades(request: IncomingMessage): boolean {
    let granted = false;
    contain(() => {
      granted = options.upgrades(request);
    });
    return granted;
  }

  /** Two answers on one connection come in the order of their requests; a connection that is upgraded has no order. */
  function isPipelined({ socket }: IncomingMessage): boolean {
    return active.all().some(({ request }) => request.socket === socket);
  }

  function arrive(request: DownstreamRequest, response: EdgeResponse, until: EdgeResponse | Socket): EdgeExchange {
    const id = options.requestId();
    const startedAt = performance.now();
    const trail = new Trail(id, request.method as string, startedAt);
    const arrived: EdgeExchange = {
      id,
      request,
      response,
      startedAt,
      trail: notesOn(trail),
      reservation: trail,
      clientAddress: undefined,
      carried: [...options.constantHeaders, 'X-Request-Id', id],
    };
    // The final status if the client leaves before an answer begins.
    trail.status = 499;
    const entry = active.add(arrived);
    if (ending) response.shouldKeepAlive = false;
    until.once('close', () => {
      active.remove(entry);
      try {
        bodies.answered(arrived);
        options.onFinished(trail);
      } catch (thrown) {
        reportFault(thrown);
      }
      if (closing) server.closeIdleConnections();
    });
    return arrived;
  }

  function arriveAtNode(request: IncomingMessage, response: ServerResponse, until: ServerResponse | Socket) {
    fastPath?.arrivedAtNode(request.socket);
    // For example a write after the end. The response is of no use then.
    response.on('error', destroyItself);
    return arrive(request, response, until);
  }

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    handle(arriveAtNode(request, response, response));
  }

  function handle(arrived: EdgeExchange): void {
    try {
      options.handle(arrived).catch((error: unknown) => options.refuse.refuse(arrived, error));
    } catch (thrown) {
      options.refuse.refuse(arrived, thrown);
    }
  }

  /** Node hands over the bare socket. Until the upgrade is complete, a response on it works as usual. */
  function onUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.on('finish', () => socket.destroySoon());
    socket.on('drain', () => response.emit('drain'));
    const arrived = arriveAtNode(request, response, socket);
    options.upgrade(arrived, socket, head).catch((error: unknown) => options.refuse.refuse(arrived, error));
  }

  function note(socket: Socket): void {
    const entry = connections.add(socket);
    socket.on('close', () => connections.remove(entry)).on('end', onHalfClosed);
  }

  if (options.takeConnection) server.on('connection', options.takeConnection);
  // With TLS this gets the raw TCP connection, and `secureConnection` the TLS socket on it. Both are tracked.
  server.on('connection', note);
  server.on('secureConnection', (socket: Socket) => {
    note(socket);
    // Not earlier: a half-closed handshake must end at once.
    socket.allowHalfOpen = true;
  });
  server.on('request', onRequest);
  // Node would send 100 Continue before anything has been checked; the stage that reads the body does it.
  server.on('checkContinue', (request, response) => {
    sendContinueInOrder(response);
    onRequest(request, response);
  });
  server.on('checkExpectation', onRequest);
  server.on('upgrade', (request, socket, head) =>
    contain(
      () => onUpgrade(request, socket as Socket, head),
      () => socket.destroy(),
    ),
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
    contain(
      () => unreadable.onClientError(error, socket),
      () => socket.destroy(),
    ),
  );
  server.on('connect', (_request, socket: Socket) =>
    contain(
      () => unreadable.onConnect(socket),
      () => socket.destroy(),
    ),
  );

  function stopListening(): void {
    // `close` of an http.Server also closes idle connections, on which a request may be arriving.
    Listener.prototype.close.call(server);
  }

  function announceEnd(): void {
    ending = true;
    // Answers under way announce the end of their connection (RFC 9112 section 9.6); Node does not add the header by itself.
    for (const { response } of active.all()) response.shouldKeepAlive = false;
  }

  async function drain(drainMs: number): Promise<void> {
    announceEnd();
    closing = true;
    fastPath?.closeIdle();
    // Node treats a connection that has sent no bytes as busy.
    for (const socket of connections.all()) if (socket.bytesRead === 0) socket.destroy();
    const deadline = setTimeout(() => {
      // Node does not include upgraded connections.
      for (const socket of connections.all()) socket.destroy();
    }, drainMs);
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    clearTimeout(deadline);
    fastPath?.stop();
    bodies.stop();
    stopWatchingReaders();
  }

  return {
    server,
    activeRequests: active.size,
    letStream: bodies.letStream,
    stopListening,
    announceEnd,
    drain,
  };
}

function destroyItself(this: ServerResponse): void {
  this.destroy();
}

/** RFC 6455 section 4.1: a GET without body, of HTTP/1.1. */
function isWebSocket({ method, httpVersionMinor, headers }: IncomingMessage): boolean {
  if (method !== 'GET' || httpVersionMinor !== 1 || headers.upgrade?.toLowerCase() !== 'websocket') return false;
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}
