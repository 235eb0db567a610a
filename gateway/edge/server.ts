// A listener for clients: the fast path reads usual requests, Node's server all others. It has the limits and timeouts of both, and sends
// JSON answers where Node would send an empty one or none.
//
// What follows: exchanges.ts makes an exchange of the request and its response; `current().handle` is the pipeline (pipeline.ts), which
// serving/serving.ts builds for each configuration; what it throws goes to refuse.ts; `onFinished` (wiring/sections/traffic.ts) writes the
// log line. docs/reading.md follows a request file by file.

import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Server as Listener, type Socket } from 'node:net';
import type { DownstreamRequest } from '../downstream.ts';
import type { Arrived } from '../exchange.ts';
import { contain, reportFault } from '../shared/faults.ts';
import { answerOfNode, createOnHalfClosed } from './connections/half-closed.ts';
import {
  createNodeServer,
  type NodeServerOptions,
  sendContinueInOrder,
  trackConnections,
} from './connections/node-server.ts';
import type { EdgeExchange } from './edge-exchange.ts';
import { createExchanges, type ExchangesOptions } from './exchanges.ts';
import { createFastPath } from './fast-path/fast-path.ts';
import type { Refuse } from './refusal/refuse.ts';
import { createUnreadable } from './refusal/unreadable.ts';

/** What handles the requests of a listener under one configuration. */
export interface RequestHandlers {
  /** Whether a usual request needs the classes of node:http. Only the fast path asks. */
  needsNode(request: DownstreamRequest): boolean;
  /** Everything that arrives as a request; resolves when it has been answered. */
  handle(arrived: Arrived): Promise<void>;
  /** Whether a request that asks for a WebSocket can get one; otherwise it is handled as if it had not asked. */
  upgrades(request: DownstreamRequest): boolean;
  /** Handles a request for an upgrade that it may get. The response works as usual until the socket is detached from it. */
  upgrade(arrived: Arrived, socket: Socket, head: Buffer): Promise<void>;
}

export interface ServerOptions extends NodeServerOptions, ExchangesOptions {
  readonly refuse: Refuse;
  /** Whether usual requests are read on the socket. Without it, Node's server reads every request. */
  readonly usesFastPath: boolean;
  /** Told of every new connection; may end it. */
  takeConnection?(socket: Socket): void;
  /** The handlers of the configuration in force. */
  current(): RequestHandlers;
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
  const { current, refuse } = options;
  const checkingMs = Math.min(1000, options.headersMs, options.requestMs);
  let isClosing = false;
  const server = createNodeServer(options, checkingMs, (request) => !isPipelined(request) && upgrades(request));
  const exchanges = createExchanges(options, checkingMs, () => {
    if (isClosing) server.closeIdleConnections();
  });
  const unreadable = createUnreadable({ ...options, active: exchanges.inProgress });
  const fastPath = options.usesFastPath
    ? createFastPath({
        ...options,
        server,
        isTls: options.createTlsServer !== undefined,
        everyMs: checkingMs,
        needsNode,
        onRequest: (request, response) => handle(exchanges.begin(request, response, response)),
        onClientError: unreadable.onClientError,
      })
    : undefined;
  const connections = trackConnections(
    server,
    options.takeConnection,
    createOnHalfClosed((socket) => fastPath?.answerOn(socket) ?? answerOfNode(socket)),
  );

  /** Called while bytes are read, so it must not throw. */
  function needsNode(request: DownstreamRequest): boolean {
    try {
      return current().needsNode(request);
    } catch (thrown) {
      reportFault(thrown);
      return true;
    }
  }

  /** Called by the parser, so it must not throw. */
  function upgrades(request: IncomingMessage): boolean {
    try {
      return current().upgrades(request);
    } catch (thrown) {
      reportFault(thrown);
      return false;
    }
  }

  /** Two answers on one connection come in the order of their requests; a connection that is upgraded has no order. */
  function isPipelined({ socket }: IncomingMessage): boolean {
    return exchanges.inProgress().some(({ request }) => request.socket === socket);
  }

  function handle(arrived: EdgeExchange): void {
    try {
      current()
        .handle(arrived)
        .catch((error: unknown) => refuse.refuse(arrived, error));
    } catch (thrown) {
      refuse.refuse(arrived, thrown);
    }
  }

  function beginAtNode(request: IncomingMessage, response: ServerResponse, until: ServerResponse | Socket) {
    fastPath?.arrivedAtNode(request.socket);
    // For example a write after the end. The response is of no use then.
    response.on('error', destroyItself);
    return exchanges.begin(request, response, until);
  }

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    handle(beginAtNode(request, response, response));
  }

  /** Node hands over the bare socket. Until the upgrade is complete, a response on it works as usual. */
  function onUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.on('finish', () => socket.destroySoon());
    socket.on('drain', () => response.emit('drain'));
    const arrived = beginAtNode(request, response, socket);
    current()
      .upgrade(arrived, socket, head)
      .catch((error: unknown) => refuse.refuse(arrived, error));
  }

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

  async function drain(drainMs: number): Promise<void> {
    exchanges.announceEnd();
    isClosing = true;
    fastPath?.closeIdle();
    // Node treats a connection that has sent no bytes as busy.
    for (const socket of connections()) if (socket.bytesRead === 0) socket.destroy();
    const deadline = setTimeout(() => {
      // Node does not include upgraded connections.
      for (const socket of connections()) socket.destroy();
    }, drainMs);
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    clearTimeout(deadline);
    fastPath?.stop();
    exchanges.stop();
  }

  return {
    server,
    activeRequests: exchanges.size,
    letStream: exchanges.letStream,
    stopListening,
    announceEnd: exchanges.announceEnd,
    drain,
  };
}

function destroyItself(this: ServerResponse): void {
  this.destroy();
}
