// The only writer of error answers: for stages, for Express, and for bytes that never became a request.

import type { Socket } from 'node:net';
import type { DownstreamRequest, DownstreamResponse } from '../downstream.ts';
import type { CatalogueEntry } from '../error-catalogue.ts';
import { GatewayError, isIdempotent, toGatewayError } from '../errors.ts';
import type { Arrived } from '../exchange.ts';
import { contain } from '../shared/faults.ts';
import { atEndOfTurn } from '../sockets/end-of-turn.ts';
import { cutOff, endAfterLingering } from './linger.ts';
import { nodeExchangeOf } from './node-exchange.ts';

export interface RefuseOptions {
  /** Base of `doc_url`. */
  readonly publicUrl: string;
  /** Headers of every answer, flat names and values: for answers on a bare socket, which have no exchange that carries them. */
  readonly constantHeaders: readonly string[];
  /** Called after a refusal has been written. */
  onRefused(arrived: Arrived, error: GatewayError): void;
}

export interface Refuse {
  /**
   * Answers an exchange with a refusal. After the first byte of an answer it resets the connection instead, so that the client cannot take
   * half an answer for a whole one.
   */
  refuse(arrived: Arrived, thrown: unknown): void;
  /** Answers on a bare socket, for bytes that the parser refused. */
  refuseSocket(socket: Socket, error: GatewayError, requestId: string): void;
  /** From now on a refusal of this request does not count its Idempotency-Key, which does not prevent a second execution. */
  ignoreKey(request: DownstreamRequest): void;
}

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Content Too Large',
  431: 'Request Header Fields Too Large',
};

export function createRefuse(options: RefuseOptions): Refuse {
  const realm = new URL(options.publicUrl).host;
  /** Responses whose refusal is already being written: a second error on their connection is not answered. */
  const answered = new WeakSet<DownstreamResponse>();
  const unprotected = new WeakSet<DownstreamRequest>();

  function refuse(arrived: Arrived, thrown: unknown): void {
    const { response } = arrived;
    if (answered.has(response)) return;
    const error = toGatewayError(thrown);
    // A head that promises to keep the connection is written at the end of the turn, because an event in this turn may still end the
    // connection. A head that ends it is written at once.
    if (response.headersSent || isGone(arrived) || !response.shouldKeepAlive || closesAfter(arrived, error)) {
      contain(
        () => write(arrived, error, thrown),
        (mistake) => fail(arrived, mistake),
      );
      return;
    }
    answered.add(response);
    atEndOfTurn(
      () => write(arrived, error, thrown),
      (mistake) => fail(arrived, mistake),
    );
  }

  /** A refusal could not be written: answers internal_error, or resets the connection. */
  function fail(arrived: Arrived, cause: unknown): void {
    const { request, response } = arrived;
    const internal = new GatewayError('internal_error', { cause });
    if (!response.headersSent)
      contain(
        () => write(arrived, internal, internal),
        () => cutOff(request.socket),
      );
    else if (!response.writableEnded) cutOff(request.socket);
  }

  function write(arrived: Arrived, error: GatewayError, thrown: unknown): void {
    const { request, response, trail } = arrived;
    if (isGone(arrived)) {
      noteClientGone(arrived, thrown);
      return;
    }
    trail.code = error.details.words?.code ?? error.code;
    trail.cause = error.details.cause;
    trail.refusal = error;
    if (response.headersSent) {
      cutOff(request.socket);
      options.onRefused(arrived, error);
      return;
    }
    const retryable = isRetryable(error, request, !unprotected.has(request));
    const body = Buffer.from(JSON.stringify(errorObject(error, arrived.id, retryable, options.publicUrl)));
    const status = error.details.words?.status ?? error.entry.status;
    const closes = closesAfter(arrived, error);
    trail.status = status;
    const head = [...arrived.carried, ...errorHeaders(error, realm), 'Content-Length', String(body.length)];
    if (closes) head.push('Connection', 'close');
    response.writeHead(status, head);
    if (closes && request.method !== 'HEAD') {
      answered.add(response);
      response.write(body, () => endAfterLingering(request.socket));
    } else response.end(body);
    trail.bytesOut = body.length;
    options.onRefused(arrived, error);
  }

  function refuseSocket(socket: Socket, error: GatewayError, requestId: string): void {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const { status, retryable } = error.entry;
    const body = JSON.stringify(errorObject(error, requestId, retryable === true, options.publicUrl));
    const head = [
      ...options.constantHeaders,
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
    socket.write(`${text}\r\n${body}`);
    endAfterLingering(socket);
  }

  return { refuse, refuseSocket, ignoreKey: (request) => void unprotected.add(request) };
}

/** Whether the client may send the identical request again: it had no effect, or is idempotent by its method or key. */
function isRetryable({ entry }: GatewayError, request: DownstreamRequest, countsKey: boolean): boolean {
  if (entry.retryable !== 'if_safe') return entry.retryable;
  return isIdempotent(request.method ?? '') || (countsKey && request.headers['idempotency-key'] !== undefined);
}

/** The error object of docs/errors.md. */
function errorObject(error: GatewayError, requestId: string, retryable: boolean, publicUrl: string): object {
  const { words, fields, hint } = error.details;
  const { type, code, message, status } = words ?? { ...error.entry, code: error.code };
  const further = hint === undefined ? undefined : error.entry.hints?.[hint];
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
  for (const challenge of challengesOf(error, realm)) head.push('WWW-Authenticate', challenge);
  for (const [name, value] of Object.entries(error.details.headers ?? {})) head.push(name, value);
  return head;
}

function retryAfterOf(error: GatewayError): number | undefined {
  return error.details.retryAfterSeconds ?? error.entry.retryAfterSeconds;
}

/** One line per challenge, because some clients cannot parse several in one line (RFC 9110 section 11.6.1). */
function challengesOf(error: GatewayError, realm: string): string[] {
  const bearer = bearerChallengeOf(error, realm);
  if (bearer === undefined) return [];
  const { basic: accepted } = error.details;
  if (accepted === undefined) return [bearer];
  const basic = `Basic realm="${realm}", charset="UTF-8"`;
  return accepted === 'also' ? [bearer, basic] : [basic];
}

/** RFC 6750 section 3: no error code if the request has no usable credential. */
function bearerChallengeOf(error: GatewayError, realm: string): string | undefined {
  const { challenge, message }: CatalogueEntry = error.entry;
  const bare = `Bearer realm="${realm}"`;
  if (challenge === undefined || challenge === 'bare') return challenge && bare;
  if (challenge === 'invalid_token')
    return `${bare}, error="invalid_token", error_description="${message.replaceAll('"', "'")}"`;
  const scopes = error.details.fields?.required_scopes;
  return `${bare}, error="insufficient_scope", scope="${Array.isArray(scopes) ? scopes.join(' ') : ''}"`;
}

/** Whether no answer can be sent: the client has closed the connection, or Node has ended it from this side. */
function isGone({ request, response }: Arrived): boolean {
  return response.destroyed || request.socket.destroyed || request.socket.writableEnded;
}

function closesAfter(arrived: Arrived, error: GatewayError): boolean {
  return error.entry.closes === true || !isBodyRead(arrived);
}

/** The client has left. Errors of its socket are expected then; any other error is noted in the trail. */
function noteClientGone({ response, trail }: Arrived, thrown: unknown): void {
  trail.status = response.headersSent ? response.statusCode : 499;
  const isSocketError = !(thrown instanceof GatewayError) && thrown instanceof Error && 'code' in thrown;
  if (isSocketError) return;
  const error = toGatewayError(thrown);
  trail.code = error.code;
  trail.cause = error.details.cause;
}

/**
 * Whether the connection can carry another request: the body has arrived, or is so small that Node reads and drops it. A client that waits
 * for 100 Continue may or may not send its body, so that the start of its next request is unknown.
 */
function isBodyRead(arrived: Arrived): boolean {
  const { request } = arrived;
  if (request.complete && request.fields !== undefined) return true;
  const { 'content-length': length, 'transfer-encoding': coding, expect } = request.headers;
  // Whether unread chunks have arrived by now is chance, and the same request should always get the same answer.
  if (request.complete) return coding === undefined || nodeExchangeOf(arrived).request.readableEnded;
  return coding === undefined && expect === undefined && Number(length ?? 0) <= 65_536;
}
