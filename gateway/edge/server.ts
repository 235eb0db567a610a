// A listener for clients. The fast path reads usual requests, and Node's server reads all others. The limits and timeouts are the same for
// both. Where Node would refuse a request with an empty answer or with none, the listener sends an error object as JSON.
//
// The steps of a request, with their files:
//
//   serveRequest      edge/fast-path/connection.ts has read a head, or Node's server has (#listenTo)
//   begin             exchanges.ts makes the exchange
//   handleRequest     pipeline.ts runs the steps that wiring/serving.ts has made for the configuration in force
//   refuse            edge/refusal/refusals.ts answers what a step has thrown
//   recordExchange    wiring/sections/traffic.ts writes the log line when the answer has been sent, and counts the exchange

import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Server as Listener, type Socket } from 'node:net';
import type { DownstreamRequest } from '../exchange/downstream.ts';
import type { Arrived } from '../exchange/exchange.ts';
import { contain, reportFault } from '../shared/faults.ts';
import { answerOfNode, createOnHalfClosed } from './connections/half-closed.ts';
import {
  createNodeServer,
  type NodeServerOptions,
  sendContinueInOrder,
  trackConnections,
} from './connections/node-server.ts';
import type { EdgeResponse } from './edge-exchange.ts';
import { Exchanges, type ExchangesOptions } from './exchanges.ts';
import { createFastPath } from './fast-path/fast-path.ts';
import type { Refusals } from './refusal/refusals.ts';
import { createUnreadable } from './refusal/unreadable.ts';

/** The handlers of a listener's requests under one configuration. */
export interface RequestHandlers {
  /** Whether a usual request needs the classes of node:http. Only the fast path asks. `createNeedsNode` of pipeline.ts */
  needsNode(request: DownstreamRequest): boolean;
  /** Handles a request. Resolves when it has been answered. Made by pipeline.ts, for the plain listener by edge/tls/plain.ts */
  handleRequest(arrived: Arrived): Promise<void>;
  /** Whether a request for a WebSocket can be upgraded; otherwise it is handled as a usual request. serving/upgrades.ts */
  isUpgradable(request: DownstreamRequest): boolean;
  /**
   * Handles a request for which `isUpgradable` returned true. The response works as usual until the socket is detached from it.
   * serving/upgrades.ts
   */
  upgrade(arrived: Arrived, socket: Socket, head: Buffer): Promise<void>;
}

/** Returns the handlers of a listener on which no request becomes a WebSocket. */
export function withoutUpgrades(handleRequest: RequestHandlers['handleRequest']): RequestHandlers {
  const upgrade = () => Promise.reject(new Error('this listener upgrades nothing'));
  return { handleRequest, needsNode: () => true, isUpgradable: () => false, upgrade };
}

export interface ServerOptions extends NodeServerOptions, ExchangesOptions {
  readonly refusals: Refusals;
  /** Whether usual requests are read on the socket. If false, Node's server reads every request. */
  readonly usesFastPath: boolean;
  /** Counts a new connection, and ends it beyond the limits. edge/connections/connection-limit.ts */
  takeConnection?(socket: Socket): void;
  /** The handlers of the configuration in force. Called once per request. `openServing` of wiring/sections/traffic.ts */
  servingInForce(): RequestHandlers;
}

export class PublicServer {
  readonly server: Server;
  readonly #options: ServerOptions;
  readonly #exchanges: Exchanges;
  readonly #unreadable: ReturnType<typeof createUnreadable>;
  readonly #fastPath: ReturnType<typeof createFastPath>;
  /** Lists the open connections. */
  readonly #connections: () => Socket[];
  #isClosing = false;

  constructor(options: ServerOptions) {
    this.#options = options;
    const checkingMs = Math.min(1000, options.headersMs, options.requestMs);
    const server = createNodeServer(
      options,
      checkingMs,
      (request) => !this.#isPipelined(request) && this.#isUpgradable(request),
    );
    this.server = server;
    this.#exchanges = new Exchanges(options, checkingMs, () => {
      if (this.#isClosing) server.closeIdleConnections();
    });
    const { refusals, constantHeaders, requestId, recordExchange } = options;
    const inProgress = () => this.#exchanges.inProgress();
    this.#unreadable = createUnreadable({ refusals, constantHeaders, requestId, recordExchange, inProgress });
    this.#fastPath = options.usesFastPath ? this.#openFastPath(server, checkingMs) : undefined;
    this.#connections = trackConnections(
      server,
      options.takeConnection,
      createOnHalfClosed((socket) => this.#fastPath?.answerOn(socket) ?? answerOfNode(socket)),
    );
    this.#listenTo(server);
  }

  /** Number of requests in progress. */
  requestsInProgress(): number {
    return this.#exchanges.size();
  }

  /** Takes no more connections. Open connections are served as before. */
  stopListening(): void {
    // `close` of an http.Server also closes idle connections, on which a request may be arriving.
    Listener.prototype.close.call(this.server);
  }

  /** From now on, every answer announces the end of its connection. Requests are still served. */
  announceEnd(): void {
    this.#exchanges.announceEnd();
  }

  /** Stops accepting connections, waits at most `drainMs` for requests in progress, then closes the remaining connections. */
  async drain(drainMs: number): Promise<void> {
    this.#exchanges.announceEnd();
    this.#isClosing = true;
    this.#fastPath?.closeIdle();
    // Node's `closeIdleConnections` does not close a connection that has sent no bytes.
    for (const socket of this.#connections()) if (socket.bytesRead === 0) socket.destroy();
    const deadline = setTimeout(() => {
      // Node does not close upgraded connections.
      for (const socket of this.#connections()) socket.destroy();
    }, drainMs);
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
    });
    clearTimeout(deadline);
    this.#fastPath?.stop();
    this.#exchanges.stop();
  }

  /** Begins the exchange of a request, and gives it to the pipeline. */
  serveRequest(request: DownstreamRequest, response: EdgeResponse): void {
    const { servingInForce, refusals } = this.#options;
    const arrived = this.#exchanges.begin(request, response, response);
    try {
      servingInForce()
        .handleRequest(arrived)
        .catch((error: unknown) => refusals.refuse(arrived, error));
    } catch (thrown) {
      refusals.refuse(arrived, thrown);
    }
  }

  /** Whether only Node's classes serve this request. Called while bytes are read, so it must not throw. */
  needsNode(request: DownstreamRequest): boolean {
    try {
      return this.#options.servingInForce().needsNode(request);
    } catch (thrown) {
      reportFault(thrown);
      return true;
    }
  }

  #openFastPath(server: Server, everyMs: number) {
    const { keepAliveMs, headersMs, headerBytesMax, urlBytesMax, createTlsServer } = this.#options;
    return createFastPath({
      server,
      requestServer: this,
      isTls: createTlsServer !== undefined,
      keepAliveMs,
      headersMs,
      headerBytesMax,
      urlBytesMax,
      everyMs,
      onClientError: this.#unreadable.onClientError,
    });
  }

  /** Listens to the requests that Node's server reads, and to the input that it cannot read. */
  #listenTo(server: Server): void {
    server.on('request', (request, response) => this.#onRequest(request, response));
    // Node would send 100 Continue before anything has been checked. The stage that reads the body sends it.
    server.on('checkContinue', (request, response) => {
      sendContinueInOrder(response);
      this.#onRequest(request, response);
    });
    server.on('checkExpectation', (request, response) => this.#onRequest(request, response));
    const orDestroy = (socket: Socket, work: () => void) => contain(work, () => socket.destroy());
    server.on('upgrade', (request, socket, head) =>
      orDestroy(socket as Socket, () => this.#onUpgrade(request, socket as Socket, head)),
    );
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
      orDestroy(socket, () => this.#unreadable.onClientError(error, socket)),
    );
    server.on('connect', (_request, socket: Socket) => orDestroy(socket, () => this.#unreadable.onConnect(socket)));
  }

  /** Called by the parser, so it must not throw. */
  #isUpgradable(request: IncomingMessage): boolean {
    try {
      return this.#options.servingInForce().isUpgradable(request);
    } catch (thrown) {
      reportFault(thrown);
      return false;
    }
  }

  /** Whether the request waits behind an unfinished answer. It cannot be upgraded then, because an upgrade takes over the connection. */
  #isPipelined({ socket }: IncomingMessage): boolean {
    return this.#exchanges.inProgress().some(({ request }) => request.socket === socket);
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    this.#arrivedAtNode(request, response);
    this.serveRequest(request, response);
  }

  #arrivedAtNode({ socket }: IncomingMessage, response: ServerResponse): void {
    this.#fastPath?.arrivedAtNode(socket);
    // An error, for example of a write after the end, makes the response useless.
    response.on('error', destroyItself);
  }

  /** Node gives only the socket. The response that is made here for the socket works as usual until the upgrade is complete. */
  #onUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const { servingInForce, refusals } = this.#options;
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.on('finish', () => socket.destroySoon());
    socket.on('drain', () => response.emit('drain'));
    this.#arrivedAtNode(request, response);
    const arrived = this.#exchanges.begin(request, response, socket);
    servingInForce()
      .upgrade(arrived, socket, head)
      .catch((error: unknown) => refusals.refuse(arrived, error));
  }
}

function destroyItself(this: ServerResponse): void {
  this.destroy();
}
