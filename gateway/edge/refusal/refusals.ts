// Refuses an exchange: writes the answer for an error that a stage, or one of the gateway's own pages, has thrown. unreadable.ts refuses
// bytes that are not a request.

import { GatewayError, toGatewayError } from '../../catalogue/errors.ts';
import type { DownstreamResponse } from '../../exchange/downstream.ts';
import type { Arrived } from '../../exchange/exchange.ts';
import { contain } from '../../shared/faults.ts';
import { isIdempotent } from '../../shared/http/words.ts';
import { atEndOfTurn } from '../../sockets/end-of-turn.ts';
import { cutOff, endAfterLingering } from '../../sockets/linger.ts';
import { nodeExchangeOf } from '../edge-exchange.ts';
import { type AnswerOf, createErrorAnswers, type ErrorAnswer } from './error-answer.ts';

interface RefusalsOptions {
  /** Base of `doc_url`. */
  readonly publicUrl: string;
  /** Counts a refusal against the address of its client, after the refusal has been written. limits/addresses/throttle.ts */
  countRefusal(arrived: Arrived, error: GatewayError): void;
}

export interface Refusals {
  /**
   * Answers an exchange with a refusal. If the answer has begun already, the function resets the connection, because the client could take
   * half an answer for a whole one.
   */
  refuse(arrived: Arrived, thrown: unknown): void;
  /** Makes the text of a refusal, without writing it. */
  readonly answerOf: AnswerOf;
}

/** The refusal of one exchange. `error` is made from `thrown`. */
interface Refusal {
  readonly arrived: Arrived;
  readonly error: GatewayError;
  readonly thrown: unknown;
}

export function createRefusals(options: RefusalsOptions): Refusals {
  const answerOf = createErrorAnswers(options.publicUrl);
  /** Responses whose refusal is being written. A second error on their connection is not answered. */
  const answered = new WeakSet<DownstreamResponse>();

  function refuse(arrived: Arrived, thrown: unknown): void {
    const { response } = arrived;
    if (answered.has(response)) return;
    const refusal = { arrived, error: toGatewayError(thrown), thrown };
    // A refusal after which the connection stays open is written at the end of the turn. Until then, another event, such as a broken body,
    // may end the connection, and the head has to announce that. A refusal that ends the connection is written at once.
    if (response.headersSent || isUnreachable(arrived) || !response.shouldKeepAlive || closesAfter(refusal)) {
      contain(
        () => write(refusal),
        (fault) => writeFailed(refusal, fault),
      );
      return;
    }
    answered.add(response);
    atEndOfTurn(refusal, write, writeFailed);
  }

  /** Handles a refusal that could not be written: answers internal_error, or resets the connection. */
  function writeFailed({ arrived }: Refusal, cause: unknown): void {
    const { request, response } = arrived;
    const internal = new GatewayError('internal_error', { cause });
    if (!response.headersSent)
      contain(
        () => write({ arrived, error: internal, thrown: internal }),
        () => cutOff(request.socket),
      );
    else if (!response.writableEnded) cutOff(request.socket);
  }

  function write(refusal: Refusal): void {
    const { arrived, error, thrown } = refusal;
    const { request, response, trail } = arrived;
    if (isUnreachable(arrived)) {
      noteClientLeft(arrived, thrown);
      return;
    }
    trail.code = error.details.words?.code ?? error.code;
    trail.note('cause', error.details.cause);
    trail.refusal = error;
    if (response.headersSent) {
      cutOff(request.socket);
      options.countRefusal(arrived, error);
      return;
    }
    const retryable = isRetryable(error, arrived);
    const closes = closesAfter(refusal);
    if (closes && request.method !== 'HEAD') answered.add(response);
    send(arrived, answerOf(error, retryable, arrived.id), closes);
    options.countRefusal(arrived, error);
  }

  return { refuse, answerOf };
}

function send({ request, response, trail, commonHeaders }: Arrived, answer: ErrorAnswer, closes: boolean): void {
  const { status, headers, text } = answer;
  const body = Buffer.from(text);
  trail.status = status;
  const head = commonHeaders.concat(headers, 'Content-Length', String(body.length));
  if (closes) head.push('Connection', 'close');
  response.writeHead(status, head);
  if (closes && request.method !== 'HEAD') response.write(body, () => endAfterLingering(request.socket));
  else response.end(body);
  trail.bytesOut = body.length;
}

/**
 * Whether the client may send the identical request again, because the first request had no effect, or because its method or its
 * Idempotency-Key makes a second request harmless.
 */
function isRetryable({ entry }: GatewayError, { request, state }: Arrived): boolean {
  if (entry.retryable !== 'if_safe') return entry.retryable;
  return (
    isIdempotent(request.method ?? '') || (!state.isUnprotected && request.headers['idempotency-key'] !== undefined)
  );
}

/** Whether no answer can be sent, because the client has closed the connection or Node has ended it from this side. */
function isUnreachable({ request, response }: Arrived): boolean {
  return response.destroyed || request.socket.destroyed || request.socket.writableEnded;
}

function closesAfter({ arrived, error }: Refusal): boolean {
  return error.entry.closes === true || !isBodyRead(arrived);
}

/** Notes that the client has left. Its socket then reports an error, which says nothing new. Any other error goes to the trail. */
function noteClientLeft({ response, trail }: Arrived, thrown: unknown): void {
  trail.status = response.headersSent ? response.statusCode : 499;
  const isSocketError = !(thrown instanceof GatewayError) && thrown instanceof Error && 'code' in thrown;
  if (isSocketError) return;
  const error = toGatewayError(thrown);
  trail.code = error.code;
  trail.note('cause', error.details.cause);
}

/**
 * Whether the connection can carry another request, because the body of this request has arrived or is so small that Node reads and drops
 * it. A client that waits for 100 Continue may send its body or the next request. The gateway cannot tell which, so the connection has to
 * end.
 */
function isBodyRead(arrived: Arrived): boolean {
  const { request } = arrived;
  if (request.complete && request.fields !== undefined) return true;
  const { 'content-length': length, 'transfer-encoding': coding, expect } = request.headers;
  // A chunked body that was not read is treated as unread even if all its chunks have arrived. Otherwise timing would decide whether the
  // connection stays open.
  if (request.complete) return coding === undefined || nodeExchangeOf(arrived).request.readableEnded;
  return coding === undefined && expect === undefined && Number(length ?? 0) <= 65_536;
}
