// What arrives on a connection and is no request that can be handled: bytes that the parser refuses, requests that take too long to
// arrive, CONNECT. Codes: malformed_http, headers_too_large, http_version_not_supported, request_timeout, body_too_large,
// method_not_allowed.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type ErrorCode, GatewayError } from '../errors.ts';
import type { Trail } from '../exchange.ts';
import type { NodeExchange } from './node-exchange.ts';
import type { Refuse } from './refuse.ts';

export interface UnreadableOptions {
  readonly refuse: Refuse;
  /** Exchanges that are not over. */
  active(): readonly NodeExchange[];
  createTrail(id: string, method: string): Trail;
  requestId(): string;
  /** Told of each refusal that has no exchange. */
  onFinished(trail: Trail): void;
}

export interface Unreadable {
  /** The parser or a timeout of Node gave up. */
  onClientError(error: NodeJS.ErrnoException, socket: Socket): void;
  /** CONNECT has come: Node has left the connection to us. */
  onConnect(socket: Socket): void;
}

/** Parser errors by code; everything else is malformed_http. */
const parserErrors: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body_too_large',
};

export function createUnreadable(options: UnreadableOptions): Unreadable {
  /** In the order of their requests. */
  function pendingOn(socket: Socket): NodeExchange[] {
    const pending = options.active().filter(({ request }) => request.socket === socket);
    return pending.sort((one, other) => one.trail.startedAt - other.trail.startedAt);
  }

  /** Nothing on this connection can be read from here on. Who is told depends on where in it that is. */
  function refuseUnreadable(socket: Socket, pending: readonly NodeExchange[], error: GatewayError): void {
    const last = pending.at(-1);
    if (last === undefined) {
      refuseUnparsed(socket, error);
      return;
    }
    // Answers come in the order of their requests: one written now would be taken for the answer to an earlier one.
    endAfter(last.response, socket);
    if (!last.request.complete) options.refuse.refuse(last, error);
  }

  function refuseUnparsed(socket: Socket, error: GatewayError): void {
    const trail = options.createTrail(options.requestId(), '_OTHER');
    options.refuse.refuseSocket(socket, error, trail.id);
    const { code, refusal, cause } = error;
    options.onFinished(
      Object.assign(trail, { code, cause, status: refusal.status, clientAddress: socket.remoteAddress }),
    );
  }

  return {
    onClientError(error, socket) {
      if (error.code === 'ECONNRESET' || !socket.writable) {
        socket.destroy();
        return;
      }
      const code = isOtherVersion(error)
        ? 'http_version_not_supported'
        : (parserErrors[error.code ?? ''] ?? 'malformed_http');
      refuseUnreadable(socket, pendingOn(socket), new GatewayError(code, { cause: error }));
    },
    onConnect(socket) {
      const pending = pendingOn(socket);
      if (pending.length > 0) keepAnswering(socket, pending);
      refuseUnreadable(socket, pending, new GatewayError('method_not_allowed', { headers: { Allow: '' } }));
    },
  };
}

/** What Node adds to the errors of its parser. */
interface ParserError extends NodeJS.ErrnoException {
  readonly reason?: string;
  readonly rawPacket?: Buffer;
  /** Of the packet. */
  readonly bytesParsed?: number;
}

const CARRIAGE_RETURN = 0x0d;

/** Whether a request line is well-formed and names another version, `HTTP/3.0`: the parser has the same code for lines that are not. */
function isOtherVersion({ code, reason, rawPacket, bytesParsed = 0 }: ParserError): boolean {
  if (code !== 'HPE_INVALID_VERSION' || reason !== 'Invalid HTTP version') return false;
  const next = rawPacket?.[bytesParsed];
  return next === undefined || next === CARRIAGE_RETURN;
}

/**
 * Does for the answers that are pending on a connection what the listeners did that Node has taken off: an answer that waits for its
 * client goes on, and answers that wait for an earlier one end when the client leaves.
 */
function keepAnswering(socket: Socket, pending: readonly NodeExchange[]): void {
  socket.on('drain', () => {
    for (const { response } of pending) if (response.socket === socket) response.emit('drain');
  });
  socket.on('close', () => {
    for (const { response } of pending) if (response.socket === null) response.destroy();
  });
  // A client that leaves is noticed only while its bytes are read.
  socket.resume();
}

/** The connection ends with this answer, whether or not its head has said so. */
function endAfter(response: ServerResponse, socket: Socket): void {
  if (!response.headersSent) response.shouldKeepAlive = false;
  else if (response.writableFinished) socket.destroySoon();
  else response.once('finish', () => socket.destroySoon());
}
