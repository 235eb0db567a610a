// The public http.Server: limits and timeouts, and JSON answers for what Node would answer with an empty body or not at all.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type ErrorCode, GatewayError } from '../errors.ts';
import type { Arrived, Trail } from '../exchange.ts';
import type { Refuse } from './refuse.ts';

export interface ServerOptions {
  readonly headerBytesMax: number;
  readonly urlBytesMax: number;
  readonly headersMs: number;
  readonly requestMs: number;
  readonly keepAliveMs: number;
  readonly refuse: Refuse;
  createTrail(id: string, method: string): Trail;
  requestId(): string;
  /** Everything that arrives as a request; resolves when it has been answered. */
  handle(arrived: Arrived): Promise<void>;
  /** Told once per exchange, after its answer has left or its client has. */
  onFinished(trail: Trail): void;
}

export interface PublicServer {
  readonly server: Server;
  activeRequests(): number;
  /** Stops taking connections, lets requests in flight finish for at most `drainMs`, then closes what is left. */
  drain(drainMs: number): Promise<void>;
}

/** Parser errors by code; everything else is malformed_http. */
const parserErrors: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body_too_large',
};

export function createPublicServer(options: ServerOptions): PublicServer {
  const active = new Set<ServerResponse>();
  const server = createServer({
    // The request line counts too: a target that is too long is ours to refuse, with 414.
    maxHeaderSize: options.headerBytesMax + options.urlBytesMax + 1024,
    // Our own pass over the header lines says it in JSON.
    requireHostHeader: false,
    headersTimeout: options.headersMs,
    requestTimeout: options.requestMs,
    keepAliveTimeout: options.keepAliveMs,
    connectionsCheckingInterval: Math.min(1000, options.headersMs),
    noDelay: true,
  });

  function arrive(request: IncomingMessage, response: ServerResponse): Arrived {
    const id = options.requestId();
    const trail = options.createTrail(id, request.method as string);
    active.add(response);
    response.on('close', () => {
      active.delete(response);
      options.onFinished(trail);
    });
    return { id, request, response, trail, carried: ['X-Request-Id', id] };
  }

  function onRequest(request: IncomingMessage, response: ServerResponse): void {
    const arrived = arrive(request, response);
    options.handle(arrived).catch((error: unknown) => options.refuse.refuse(arrived, error));
  }

  server.on('request', onRequest);
  // Node would send 100 Continue before anything has been checked; the stage that reads the body does it.
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    refuseUnparsed(socket, parserErrors[error.code ?? ''] ?? 'malformed_http', error);
  });
  server.on('connect', (_request, socket: Socket) =>
    refuseUnparsed(socket, 'method_not_allowed', new Error('CONNECT')),
  );

  function refuseUnparsed(socket: Socket, code: ErrorCode, cause: Error): void {
    const error = new GatewayError(code, { cause });
    const trail = options.createTrail(options.requestId(), '_OTHER');
    options.refuse.refuseSocket(socket, error, trail.id);
    options.onFinished(
      Object.assign(trail, { code, cause, status: error.refusal.status, clientAddress: socket.remoteAddress }),
    );
  }

  async function drain(drainMs: number): Promise<void> {
    // Whoever is served now learns that this connection ends (RFC 9112 section 9.6); Node does not say it by itself.
    for (const response of active) response.shouldKeepAlive = false;
    const deadline = setTimeout(() => server.closeAllConnections(), drainMs);
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    clearTimeout(deadline);
  }

  return { server, activeRequests: () => active.size, drain };
}

/** Opens a listener; answers the port it got. Rejects with a sentence when the address cannot be had. */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'something else listens there' : (error.code ?? error.message);
      reject(new Error(`Cannot listen on ${host}:${port}: ${why}.`));
    });
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}
