// Sends one request through a tunnel: streams its body to the upstream and the answer to the client, with backpressure in both directions.
// Throws upstream_* codes and request_timeout.

import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import type { GatewayError } from '../errors.ts';
import type { Admitted } from '../exchange.ts';
import type { StreamEnd } from '../findings.ts';
import type { HttpProxy, ProxiedRequest, TunnelTls } from './http-proxy.ts';
import { watchForStall } from './stall.ts';
import { tunnelAnswerHeaders } from './tunnel-headers.ts';
import { createWaiting, KEEP_ALIVE_MS, tooLong } from './waiting.ts';
import { failIfCut, watchSent } from './whole.ts';

/** An exchange with the classes of node:http that the library needs. */
export interface NodeAdmitted extends Admitted {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface ProxyRequestOptions {
  readonly admitted: NodeAdmitted;
  readonly proxy: HttpProxy;
  readonly target: URL;
  readonly tls: TunnelTls | undefined;
  readonly isolate: boolean;
  /** See ProxiedRequest. */
  readonly unasked: () => void;
  readonly connectMs: number;
  readonly answerMs: number;
  /** Longest pause in the body of an answer; event streams are exempt. */
  readonly idleMs: number;
  /** Prefix of the locations for clients, where the upstream got the path without it. */
  readonly basePath?: string | undefined;
  /** The name of the file that the client asked for, where the upstream got another. */
  readonly fileName?: string | undefined;
  /** True if the upstream serves HTML pages, which load scripts and styles of their own. */
  readonly hasPages: boolean;
  /** Turns an error of the connection or of the upstream's HTTP into a refusal. */
  toFailure(error: unknown): GatewayError;
  /** Closes the client's connection, so that a truncated answer is not taken for a complete one. */
  cutOff(admitted: Admitted): void;
  /** Called before the head of the answer is sent to the client. */
  onAnswer(status: number): void;
  /** Called if the client has left before the answer, or does not finish its request, and the upstream may have read it. */
  onAbandoned(): void;
  /** Registers an answer without a natural end; `end` ends it cleanly. The returned function is called when the answer has ended. */
  onStream(end: (why?: StreamEnd) => void): () => void;
}

/**
 * Resolves when the answer has been delivered or the client has disconnected. The request's url and headers must already be those for the
 * upstream.
 */
export function proxyRequest(options: ProxyRequestOptions): Promise<void> {
  const { admitted, proxy, toFailure } = options;
  const { request, response, trail } = admitted;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const sentAt = performance.now();
  const waiting = createWaiting({
    ...options,
    request,
    onTooLong(what) {
      if (what === 'sending') abandon();
      fail(tooLong(what));
    },
    onTooMany: (error) => fail(toFailure(error)),
  });
  let outgoing: ClientRequest | undefined;
  let isSent = () => false;
  let answering = false;
  let answer: IncomingMessage | undefined;
  let retried = false;
  let settled = false;
  let bytesIn = 0;
  let ended = () => {};

  function settle(): boolean {
    if (settled) return false;
    settled = true;
    waiting.over();
    response.off('close', onClose);
    ended();
    return true;
  }

  /** The client's connection has closed: an abort, unless the answer is complete. */
  function onClose(): void {
    if (!settle()) return;
    if (!response.writableFinished) {
      trail.status = 499;
      abandon();
      outgoing?.destroy();
    }
    resolve();
  }

  /** The client is the reason that no answer has come. */
  function abandon(): void {
    if (!answering && waiting.isOpen() && isSent()) options.onAbandoned();
  }

  const isClientGone = () => request.socket.destroyed || request.errored !== null;

  function fail(error: GatewayError): void {
    if (!settle()) return;
    if (response.headersSent) options.cutOff(admitted);
    reject(error);
    outgoing?.destroy();
  }

  const proxied: ProxiedRequest = {
    target: options.target,
    tls: options.tls,
    isolate: options.isolate,
    unasked: options.unasked,
    begun(tried) {
      outgoing = tried;
      if (settled) {
        tried.destroy();
        return;
      }
      isSent = watchSent(tried);
      tried.once('close', () => {
        if (tried === outgoing && !answering) proxied.failed(new Error('the connection was closed without an answer'));
      });
      waiting.begun(tried, () => {
        // The request may have been refused while the connection was opening.
        if (admitted.headers.has('expect') && !retried && !response.headersSent) response.writeContinue();
      });
      // Only now: a `data` listener starts the flow of the body, and the body is piped from here on.
      if (!retried) request.on('data', onBody);
    },
    answered,
    failed(error) {
      // The upload ended with its answer, which is here.
      if (answer?.complete) return;
      if (isClientGone()) onClose();
      else if (canRetry(error)) {
        retried = true;
        outgoing = undefined;
        proxy.send(request, response, proxied);
      } else fail(toFailure(error));
    },
  };

  function onBody(chunk: Buffer): void {
    bytesIn += chunk.length;
    trail.bytesIn = bytesIn;
    waiting.progress();
  }

  /** True if the upstream closed a reused connection, so that it cannot have seen this request. */
  function canRetry(error: unknown): boolean {
    const { code } = error as NodeJS.ErrnoException;
    const isStale = outgoing?.reusedSocket === true && (code === 'ECONNRESET' || code === 'EPIPE');
    return isStale && !retried && !settled && !answering && !admitted.hasBody && /^(GET|HEAD)$/.test(admitted.method);
  }

  function answered(incoming: IncomingMessage): void {
    answering = true;
    waiting.over();
    // The request has been refused in the meantime.
    if (settled || response.headersSent) {
      incoming.resume();
      return;
    }
    const isUnasked = !isSent();
    if (isUnasked) options.unasked();
    // Node throws over a status that it cannot write, in an event of its client, where that would end the process.
    if (isUnasked || !isFinal(incoming.statusCode)) {
      incoming.on('error', () => undefined);
      fail(toFailure(new Error('the answer came before the request was sent, or has the status of no final answer')));
      return;
    }
    answer = incoming;
    failIfCut(incoming);
    const status = incoming.statusCode as number;
    trail.upstreamStatus = status;
    trail.upstreamMs = performance.now() - sentAt;
    trail.status = status;
    options.onAnswer(status);
    // Runs before the library's listener, which would close the client's connection without a report.
    incoming.once('error', (error) => fail(toFailure(error)));
    incoming.once('close', () => {
      if (!incoming.complete) fail(toFailure(new Error('the answer is incomplete')));
    });
    const { hasPages, target, basePath, fileName } = options;
    const { carried } = admitted;
    const { rawHeaders: raw } = incoming;
    // The answer came before the request body was complete: close the connection, because the rest of the body is not read.
    if (!request.complete) response.shouldKeepAlive = false;
    response.writeHead(
      status,
      tunnelAnswerHeaders({ raw, status, origin: target.origin, carried, hasPages, basePath, fileName }),
    );
    let begun = false;
    let bytesOut = 0;
    incoming.on('data', (chunk: Buffer) => {
      begun = true;
      bytesOut += chunk.length;
      trail.bytesOut = bytesOut;
    });
    incoming.pipe(response);
    // The body may come much later than the head. Usually both arrive together, so flush only if no data came in this turn.
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

  // Runs before the listener that ends and logs the exchange.
  response.prependListener('close', onClose);
  trail.forwardedAt = sentAt;
  proxy.send(request, response, proxied);
  return promise;
}

/** The parser takes any number, and a 101 that was not asked for. */
export function isFinal(status: number | undefined): boolean {
  return status !== undefined && status >= 200 && status <= 999;
}

function isEventStream({ headers }: IncomingMessage): boolean {
  return /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
}
