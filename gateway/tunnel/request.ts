// One request through a tunnel: its body to the upstream and the answer to the client, as they come, with backpressure both ways.
// Throws upstream_* codes and request_timeout.

import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { GatewayError } from '../errors.ts';
import type { Admitted } from '../exchange.ts';
import { tunnelAnswerHeaders } from './headers.ts';
import type { HttpProxy, ProxiedRequest, TunnelTls } from './http-proxy.ts';
import { watchForStall } from './stall.ts';
import { createWaiting, KEEP_ALIVE_MS, tooLong } from './waiting.ts';
import { failIfCut, watchSent } from './whole.ts';

/** An exchange with the classes of node:http that the library needs. */
export interface NodeAdmitted extends Admitted {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface ProxyRequestOptions {
  readonly admitted: NodeAdmitted;
  readonly line: HttpProxy;
  readonly target: URL;
  readonly tls: TunnelTls | undefined;
  readonly isolate: boolean;
  readonly connectMs: number;
  readonly answerMs: number;
  /** How long the body of an answer may pause, unless it is an event stream. */
  readonly idleMs: number;
  /** Whether the answers are pages, which need their own scripts and styles. */
  readonly hasPages: boolean;
  /** What the connection or the upstream's HTTP had against it → a refusal. */
  toFailure(error: unknown): GatewayError;
  /** Ends the client's connection so that nobody takes half an answer for a whole one. */
  cutOff(admitted: Admitted): void;
  /** The head of the answer is about to be passed on. */
  onAnswer(status: number): void;
  /** An answer that may go on forever; `end` ends it well. Called back when it has ended. */
  onStream(end: () => void): () => void;
}

/** Resolves when the answer has been delivered or the client has left. The request's url and headers are those for the upstream. */
export function proxyRequest(options: ProxyRequestOptions): Promise<void> {
  const { admitted, line, toFailure } = options;
  const { request, response, trail } = admitted;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const waiting = createWaiting({
    ...options,
    request,
    onTooLong: (what) => fail(tooLong(what)),
    onTooMany: (error) => fail(toFailure(error)),
  });
  let outgoing: ClientRequest | undefined;
  let isSent = () => false;
  let answering = false;
  let retried = false;
  let settled = false;
  let ended = () => {};

  function settle(): boolean {
    if (settled) return false;
    settled = true;
    waiting.over();
    response.off('close', onClose);
    ended();
    return true;
  }

  /** The client has left, unless the answer is complete. */
  function onClose(): void {
    if (!settle()) return;
    if (!response.writableFinished) {
      trail.status = 499;
      outgoing?.destroy();
    }
    resolve();
  }

  const isClientGone = () => request.socket.destroyed || request.errored !== null;

  function fail(error: GatewayError): void {
    if (!settle()) return;
    if (response.headersSent) options.cutOff(admitted);
    reject(error);
    outgoing?.destroy();
  }

  const passage: ProxiedRequest = {
    target: options.target,
    tls: options.tls,
    isolate: options.isolate,
    begun(tried) {
      outgoing = tried;
      if (settled) {
        tried.destroy();
        return;
      }
      isSent = watchSent(tried);
      tried.once('close', () => {
        if (tried === outgoing && !answering) passage.failed(new Error('the connection was closed without an answer'));
      });
      waiting.begun(tried, () => {
        // It may have been refused while the connection was opened.
        if (admitted.headers.has('expect') && !retried && !response.headersSent) response.writeContinue();
      });
      // Not earlier: whoever listens lets the body flow, and it is piped from here on.
      if (!retried) request.on('data', onBody);
    },
    answered,
    failed(error) {
      if (isClientGone()) onClose();
      else if (canRetry(error)) {
        retried = true;
        outgoing = undefined;
        line.send(request, response, passage);
      } else fail(toFailure(error));
    },
  };

  function onBody(chunk: Buffer): void {
    trail.bytesIn += chunk.length;
    waiting.progress();
  }

  /** A connection that was kept and that the upstream has closed meanwhile: it cannot have seen the request. */
  function canRetry(error: unknown): boolean {
    const { code } = error as NodeJS.ErrnoException;
    const isStale = outgoing?.reusedSocket === true && (code === 'ECONNRESET' || code === 'EPIPE');
    return isStale && !retried && !settled && !answering && !admitted.hasBody && /^(GET|HEAD)$/.test(admitted.method);
  }

  function answered(incoming: IncomingMessage): void {
    answering = true;
    waiting.over();
    // Somebody has refused the request meanwhile.
    if (settled || response.headersSent) {
      incoming.resume();
      return;
    }
    if (!isSent() || incoming.statusCode === 101) {
      incoming.on('error', () => undefined);
      fail(toFailure(new Error('this is no answer to the request that was sent, or none was')));
      return;
    }
    failIfCut(incoming);
    const status = incoming.statusCode as number;
    trail.upstreamStatus = status;
    trail.upstreamMs = performance.now() - (trail.forwardedAt as number);
    trail.status = status;
    options.onAnswer(status);
    // Before the library's own, which would just end the client's connection.
    incoming.once('error', (error) => fail(toFailure(error)));
    incoming.once('close', () => {
      if (!incoming.complete) fail(toFailure(new Error('the answer is incomplete')));
    });
    const { hasPages, target } = options;
    const { carried } = admitted;
    // The rest of a body that is answered early is nobody's.
    if (!request.complete) response.shouldKeepAlive = false;
    response.writeHead(
      status,
      tunnelAnswerHeaders({ raw: incoming.rawHeaders, status, origin: target.origin, carried, hasPages }),
    );
    let begun = false;
    incoming.on('data', (chunk: Buffer) => {
      begun = true;
      trail.bytesOut += chunk.length;
    });
    incoming.pipe(response);
    // What follows may take its time; most often head and body are one piece.
    setImmediate(() => {
      if (!begun && !response.writableEnded) response.flushHeaders();
    });
    if (isEventStream(incoming)) keepOpen(incoming);
    else ended = watchForStall(incoming, response, options.idleMs, () => fail(tooLong('answering')));
  }

  function keepOpen(incoming: IncomingMessage): void {
    request.socket.setKeepAlive(true, KEEP_ALIVE_MS);
    ended = options.onStream(() => {
      incoming.unpipe(response);
      if (settle()) response.end(() => outgoing?.destroy());
      resolve();
    });
  }

  // Before the listener that ends the exchange and has it logged.
  response.prependListener('close', onClose);
  trail.forwardedAt = performance.now();
  line.send(request, response, passage);
  return promise;
}

function isEventStream({ headers }: IncomingMessage): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}
