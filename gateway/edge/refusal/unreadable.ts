// Handles input that is not a valid request: bytes that the parser rejects, requests that arrive too slowly, CONNECT. Codes:
// malformed_http, headers_too_large, http_version_not_supported, request_timeout, body_too_large, method_not_allowed.

import type { Socket } from 'node:net';
import { type ErrorCode, GatewayError } from '../../catalogue/errors.ts';
import { Trail } from '../../exchange/trail.ts';
import { writeAnswerHead } from '../../http1/answer-writer.ts';
import { endAfterLingering } from '../../sockets/linger.ts';
import { type EdgeExchange, type EdgeResponse, type NodeExchange, nodeExchangeOf } from '../edge-exchange.ts';
import type { Refusals } from './refusals.ts';

interface UnreadableOptions {
  readonly refusals: Pick<Refusals, 'refuse' | 'answerOf'>;
  /** Flat headers of every answer. An unreadable request has no exchange that would add them. */
  readonly constantHeaders: readonly string[];
  /** Returns the exchanges in progress. */
  inProgress(): readonly EdgeExchange[];
  /** Makes the id of a request. edge/ids.ts */
  requestId(): string;
  /** Records a refusal outside an exchange, as exchanges are recorded (edge/exchanges.ts). */
  recordExchange(trail: Trail): void;
}

interface Unreadable {
  /** Called when Node's parser or one of its timeouts has failed the connection. */
  onClientError(error: NodeJS.ErrnoException, socket: Socket): void;
  /** Called for CONNECT. Node has detached its own listeners from the connection. */
  onConnect(socket: Socket): void;
}

/** The error codes for errors of Node's parser. An error that is not listed is malformed_http. */
const PARSER_ERRORS: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'body_too_large',
};

export function createUnreadable(options: UnreadableOptions): Unreadable {
  return {
    onClientError(error, socket) {
      if (error.code === 'ECONNRESET' || !socket.writable) {
        socket.destroy();
        return;
      }
      const code = isOtherVersion(error)
        ? 'http_version_not_supported'
        : (PARSER_ERRORS[error.code ?? ''] ?? 'malformed_http');
      refuseUnreadable(socket, pendingOn(socket, options), new GatewayError(code, { cause: error }), options);
    },
    onConnect(socket) {
      const pending = pendingOn(socket, options);
      if (pending.length > 0) keepAnswering(socket, pending.map(nodeExchangeOf));
      refuseUnreadable(socket, pending, new GatewayError('method_not_allowed', { headers: { Allow: '' } }), options);
    },
  };
}

/** Exchanges in progress on the connection, in the order of their requests. */
function pendingOn(socket: Socket, options: UnreadableOptions): EdgeExchange[] {
  const pending = options.inProgress().filter(({ request }) => request.socket === socket);
  return pending.sort((one, other) => one.startedAt - other.startedAt);
}

/**
 * Refuses unreadable bytes, and reads no other request from this connection. If the bytes cut off the body of an exchange in progress,
 * that exchange gets the refusal.
 */
function refuseUnreadable(
  socket: Socket,
  pending: readonly EdgeExchange[],
  error: GatewayError,
  options: UnreadableOptions,
): void {
  const last = pending.at(-1);
  if (last === undefined) {
    refuseUnparsed(socket, error, options);
    return;
  }
  // Earlier requests of the connection wait for their answers, and answers are sent in the order of the requests. A refusal that is
  // written now would be read as the answer to the first of them.
  endAfter(last.response, socket);
  if (!last.request.complete) options.refusals.refuse(last, error);
}

function refuseUnparsed(socket: Socket, error: GatewayError, options: UnreadableOptions): void {
  const id = options.requestId();
  answerSocket(socket, error, id, options);
  const { code, entry, cause } = error;
  const trail = new Trail(id, '_OTHER');
  trail.note('cause', cause);
  options.recordExchange(Object.assign(trail, { code, status: entry.status, clientAddress: socket.remoteAddress }));
}

function answerSocket(socket: Socket, error: GatewayError, requestId: string, options: UnreadableOptions): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const { status, headers, text } = options.refusals.answerOf(error, error.entry.retryable === true, requestId);
  const length = ['Content-Length', String(Buffer.byteLength(text))];
  const head = writeAnswerHead({
    status,
    headers: options.constantHeaders.concat('X-Request-Id', requestId, headers, length),
    isKept: false,
    keepAliveMs: 0,
    hasBody: true,
    nowMs: Date.now(),
  });
  socket.write(head.text + text);
  endAfterLingering(socket);
}

/** Members that Node adds to errors of its parser. */
interface ParserError extends NodeJS.ErrnoException {
  readonly reason?: string;
  readonly rawPacket?: Buffer;
  /** Number of parsed bytes of the packet. */
  readonly bytesParsed?: number;
}

const CARRIAGE_RETURN = 0x0d;

/**
 * Whether a request line is well-formed and names another version, such as `HTTP/3.0`. The parser has the same code for malformed lines.
 */
function isOtherVersion({ code, reason, rawPacket, bytesParsed = 0 }: ParserError): boolean {
  if (code !== 'HPE_INVALID_VERSION' || reason !== 'Invalid HTTP version') return false;
  const next = rawPacket?.[bytesParsed];
  return next === undefined || next === CARRIAGE_RETURN;
}

/**
 * Replaces the listeners that Node has removed from a connection with pending answers. An answer that waits for `drain` continues. Answers
 * that wait for an earlier one end when the client leaves.
 */
function keepAnswering(socket: Socket, pending: readonly NodeExchange[]): void {
  socket.on('drain', () => {
    for (const { response } of pending) if (response.socket === socket) response.emit('drain');
  });
  socket.on('close', () => {
    for (const { response } of pending) if (response.socket === null) response.destroy();
  });
  // Node notices that a client has disconnected only while it reads the socket.
  socket.resume();
}

/** Closes the connection after this answer, whether or not its head has announced that. */
function endAfter(response: EdgeResponse, socket: Socket): void {
  if (!response.headersSent) response.shouldKeepAlive = false;
  else if (response.writableFinished) socket.destroySoon();
  else response.once('finish', () => socket.destroySoon());
}
