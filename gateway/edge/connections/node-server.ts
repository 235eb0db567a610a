// Creates Node's HTTP server for a public listener, with its bounds. Tracks its connections, and sends 100 Continue in the order of the
// answers.

import {
  createServer,
  type ServerOptions as HttpOptions,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { createDenseSet } from '../../shared/dense-set.ts';

export interface NodeServerOptions {
  readonly headerBytesMax: number;
  readonly urlBytesMax: number;
  readonly headersMs: number;
  readonly keepAliveMs: number;
  /** Makes the server of a listener with TLS; undefined for a server without TLS. */
  readonly createTlsServer?: ((options: HttpOptions) => HttpsServer) | undefined;
}

export function createNodeServer(
  options: NodeServerOptions,
  checkingMs: number,
  mayUpgrade: (request: IncomingMessage) => boolean,
): Server | HttpsServer {
  const server = (options.createTlsServer ?? createServer)({
    // Node counts the request line, too. The bound includes it, so that `admit` can refuse a target that is too long with 414.
    maxHeaderSize: options.headerBytesMax + options.urlBytesMax + 1024,
    // `admit` checks Host, and refuses with a JSON error.
    requireHostHeader: false,
    headersTimeout: options.headersMs,
    requestTimeout: 0,
    keepAliveTimeout: options.keepAliveMs,
    connectionsCheckingInterval: checkingMs,
    noDelay: true,
    // A request without Content-Length and Transfer-Encoding has no body (RFC 9112 section 6.3). Its stream is at its end from the start,
    // and emits no events. Bodies are read only where a header announces one.
    optimizeEmptyRequests: true,
    shouldUpgradeCallback: (request) => isWebSocket(request) && mayUpgrade(request),
  });
  // A client that ends its side after a whole request gets its answer. The types of Node lack this member.
  return Object.assign(server, { httpAllowHalfOpen: true });
}

/**
 * Returns a function that lists the open connections.
 *
 * @param takeConnection called with every new connection, which it may end
 * @param onHalfClosed listener for the end of a client's side
 */
export function trackConnections(
  server: Server,
  takeConnection: ((socket: Socket) => void) | undefined,
  onHalfClosed: (this: Socket) => void,
): () => Socket[] {
  const open = createDenseSet<Socket>();

  function note(socket: Socket): void {
    const entry = open.add(socket);
    socket.on('close', () => open.remove(entry)).on('end', onHalfClosed);
  }

  if (takeConnection) server.on('connection', takeConnection);
  // With TLS, `connection` gives the raw TCP connection and `secureConnection` the TLS socket on top of it. Both are tracked.
  server.on('connection', note);
  server.on('secureConnection', (socket: Socket) => {
    note(socket);
    // This comes after the handshake, because a half-closed handshake must end at once.
    socket.allowHalfOpen = true;
  });
  return open.all;
}

/** Whether a request may open a WebSocket, which must be a GET of HTTP/1.1 without a body (RFC 6455 section 4.1). */
function isWebSocket({ method, httpVersionMinor, headers }: IncomingMessage): boolean {
  if (method !== 'GET' || httpVersionMinor !== 1 || headers.upgrade?.toLowerCase() !== 'websocket') return false;
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

/**
 * Delays `writeContinue` of an answer until the earlier answers on the connection are complete. Node also queues 100 Continue, but writes
 * the head of the answer before it, and clients would read the 100 Continue as the beginning of the body. If the answer has begun by then,
 * no 100 Continue is sent, because the client no longer needs it (RFC 9110 section 10.1.1).
 */
export function sendContinueInOrder(response: ServerResponse): void {
  // The connection already belongs to this answer, because no earlier answer is pending. This is nearly always so.
  if (response.socket !== null) return;
  const { writeContinue } = response;
  response.writeContinue = (callback) => {
    const write = () => {
      if (!response.headersSent) writeContinue.call(response, callback);
    };
    if (response.socket === null) response.once('socket', write);
    else write();
  };
}
