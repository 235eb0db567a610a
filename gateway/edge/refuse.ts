// The only writer of error answers: for stages, for Express, and for what never became a request.

import type { Socket } from 'node:net';
import { type GatewayError, type Refusal, toGatewayError } from '../errors.ts';
import type { Arrived } from '../exchange.ts';

export interface RefuseOptions {
  /** Where documentation lives: `doc_url` is below it. */
  readonly publicUrl: string;
  /** Headers of every answer, flat. */
  readonly alwaysCarried: readonly string[];
  /** Told after a refusal has been written, with the stage noted in the trail. */
  onRefused(arrived: Arrived, error: GatewayError): void;
}

export interface Refuse {
  /** Answers an exchange with a refusal. After the first byte of an answer the socket is destroyed instead, so that nobody takes half an answer for a whole one. */
  refuse(arrived: Arrived, thrown: unknown): void;
  /** Answers on a bare socket, when the parser gave up before there was a request. */
  refuseSocket(socket: Socket, error: GatewayError, requestId: string): void;
}

const idempotentMethods = new Set(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY']);
const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Content Too Large',
  431: 'Request Header Fields Too Large',
};
/** How much of a refused body is still read, and for how long, before the connection is closed. */
const LINGER_BYTES_MAX = 1_048_576;
const LINGER_MS = 500;

export function createRefuse(options: RefuseOptions): Refuse {
  const realm = new URL(options.publicUrl).host;

  function refuse(arrived: Arrived, thrown: unknown): void {
    const { request, response, trail } = arrived;
    const error = toGatewayError(thrown);
    trail.code = error.details.words?.code ?? error.code;
    trail.cause = error.details.cause;
    if (response.headersSent || response.destroyed || request.socket.destroyed) {
      trail.status = response.headersSent ? response.statusCode : 499;
      response.destroy();
      options.onRefused(arrived, error);
      return;
    }
    const retryable = isRetryable(error, request.method ?? '', request.headers['idempotency-key'] !== undefined);
    const body = Buffer.from(JSON.stringify(errorObject(error, arrived.id, retryable, options.publicUrl)));
    const status = error.details.words?.status ?? error.refusal.status;
    const closes = error.refusal.closes === true || !isBodyRead(arrived);
    trail.status = status;
    const head = [
      ...options.alwaysCarried,
      ...arrived.carried,
      ...errorHeaders(error, realm),
      'Content-Length',
      String(body.length),
    ];
    if (closes) head.push('Connection', 'close');
    response.writeHead(status, head);
    if (request.method === 'HEAD') response.end();
    else if (closes) endAfterDraining(arrived, body);
    else response.end(body);
    trail.bytesOut = body.length;
    options.onRefused(arrived, error);
  }

  function refuseSocket(socket: Socket, error: GatewayError, requestId: string): void {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const { status, retryable } = error.refusal;
    const body = JSON.stringify(errorObject(error, requestId, retryable === true, options.publicUrl));
    const head = [
      ...options.alwaysCarried,
      'X-Request-Id',
      requestId,
      ...errorHeaders(error, realm),
      'Content-Length',
      String(Buffer.byteLength(body)),
      'Connection',
      'close',
    ];
    let text = `HTTP/1.1 ${status} ${reasons[status] ?? 'Error'}\r\nDate: ${new Date().toUTCString()}\r\n`;
    for (let i = 0; i < head.length; i += 2) text += `${head[i]}: ${head[i + 1]}\r\n`;
    socket.end(`${text}\r\n${body}`, () => socket.destroySoon());
  }

  return { refuse, refuseSocket };
}

/** Whether the identical request may be sent again: what failed before or without effect, or is idempotent by method or key. */
function isRetryable(error: GatewayError, method: string, hasIdempotencyKey: boolean): boolean {
  const { retryable } = error.refusal;
  return retryable === 'if_safe' ? idempotentMethods.has(method) || hasIdempotencyKey : retryable;
}

/** The object of http-conventions 2.2. */
function errorObject(error: GatewayError, requestId: string, retryable: boolean, publicUrl: string): object {
  const { words, fields, hint } = error.details;
  const { type, code, message, status } = words ?? { ...error.refusal, code: error.code };
  const further = hint === undefined ? undefined : error.refusal.hints?.[hint];
  const retryAfter = retryAfterOf(error);
  return {
    error: {
      type,
      code,
      message: further === undefined ? message : `${message} ${further}`,
      status,
      ...fields,
      retryable,
      ...(retryAfter === undefined ? {} : { retry_after: retryAfter }),
      request_id: requestId,
      doc_url: `${publicUrl}/docs/errors/${code}`,
    },
  };
}

function errorHeaders(error: GatewayError, realm: string): string[] {
  const head = [
    'Content-Type',
    'application/json',
    'Cache-Control',
    'no-store',
    'X-Error-Code',
    error.details.words?.code ?? error.code,
  ];
  const retryAfter = retryAfterOf(error);
  if (retryAfter !== undefined) head.push('Retry-After', String(retryAfter));
  const challenge = challengeOf(error, realm);
  if (challenge !== undefined) head.push('WWW-Authenticate', challenge);
  for (const [name, value] of Object.entries(error.details.headers ?? {})) head.push(name, value);
  return head;
}

function retryAfterOf(error: GatewayError): number | undefined {
  return error.details.retryAfterSeconds ?? error.refusal.retryAfterSeconds;
}

/** RFC 6750 section 3: no error code when no usable credential was presented. */
function challengeOf(error: GatewayError, realm: string): string | undefined {
  const { challenge, message }: Refusal = error.refusal;
  const bare = `Bearer realm="${realm}"`;
  if (challenge === undefined || challenge === 'bare') return challenge && bare;
  if (challenge === 'invalid_token')
    return `${bare}, error="invalid_token", error_description="${message.replaceAll('"', "'")}"`;
  const scopes = error.details.fields?.required_scopes;
  return `${bare}, error="insufficient_scope", scope="${Array.isArray(scopes) ? scopes.join(' ') : ''}"`;
}

/** Whether the connection can carry another request: the body is in, or so small that Node reads it away. */
function isBodyRead({ request }: Arrived): boolean {
  if (request.complete) return true;
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  return coding === undefined && Number(length ?? 0) <= 65_536;
}

/**
 * The whole answer is sent at once, but the connection is closed only after the client had time to read it: closing while a client
 * still sends makes the kernel reset the connection and the answer is lost (RFC 9112 section 9.6).
 */
function endAfterDraining({ request, response }: Arrived, body: Buffer): void {
  response.write(body);
  let drained = 0;
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.removeAllListeners('data');
  request.on('data', (chunk: Buffer) => {
    drained += chunk.length;
    if (drained > LINGER_BYTES_MAX) end();
  });
  request.on('end', end).on('close', end).on('error', end);
  request.resume();
  if (request.complete) end();
}
